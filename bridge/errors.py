"""What can go wrong between agents, in the store's own form: facts as fields, one line."""

from amfs_sqlite.errors import AmfsError, quoted


class PacketNotFoundError(AmfsError, LookupError):
    """No packet of this id that the caller can see."""

    code = "packet_not_found"

    def __init__(self, handoff_id: str) -> None:
        self.handoff_id = handoff_id
        super().__init__(f"there is no packet {quoted(handoff_id)}; list the packets to see their ids")


class PacketStateError(AmfsError):
    """The packet's state does not allow what was wanted. Nothing changed.

    ``state`` is the packet's, ``wanted`` what it was to become; ``claimed_by`` is who holds a
    claimed packet, or held a closed one.
    """

    code = "packet_state"

    def __init__(
        self, handoff_id: str, state: str, wanted: str, advice: str, claimed_by: str | None = None
    ) -> None:
        self.handoff_id = handoff_id
        self.state = state
        self.wanted = wanted
        self.claimed_by = claimed_by
        by = "" if claimed_by is None else f" by {quoted(claimed_by)}"
        so = " already" if state == wanted else f" and cannot be {wanted}"
        super().__init__(f"packet {quoted(handoff_id)} is {state}{by}{so}; {advice}")


class PacketNotYoursError(AmfsError):
    """The packet is another agent's to take, release or cancel. Nothing changed.

    ``agent_id`` is the one who may.
    """

    code = "packet_not_yours"

    def __init__(self, handoff_id: str, agent_id: str, wanted: str) -> None:
        self.handoff_id = handoff_id
        self.agent_id = agent_id
        self.wanted = wanted
        super().__init__(
            f"packet {quoted(handoff_id)} can only be {wanted} by {quoted(agent_id)};"
            " leave it to them, or ask them to"
        )


class PacketUnreadableError(AmfsError):
    """What is stored in a packet's place is no packet."""

    code = "packet_unreadable"

    def __init__(self, handoff_id: str, problem: str) -> None:
        self.handoff_id = handoff_id
        self.problem = problem
        super().__init__(
            f"packet {quoted(handoff_id)} cannot be read: {problem};"
            " run verify to see whether the file was changed, and have the packet given again"
        )


class PrivatePinError(AmfsError):
    """A private record cannot be pinned for anyone but its author. Nothing was written."""

    code = "private_pin"

    def __init__(self, entity_path: str, key: str) -> None:
        self.entity_path = entity_path
        self.key = key
        super().__init__(
            f"{quoted(key)} under {quoted(entity_path)} is private and cannot be pinned for another"
            " agent; leave it out, remember it as shared, or address the packet to its author"
        )


class ReservedPathError(AmfsError, ValueError):
    """A path that the system keeps for itself. Nothing was read or written."""

    code = "reserved_path"

    def __init__(self, entity_path: str) -> None:
        self.entity_path = entity_path
        super().__init__(
            f"{quoted(entity_path)} is kept for the system's own records; use another path,"
            " and the packet operations for packets"
        )


class NothingTouchedError(AmfsError):
    """No records were named and this session touched none. Nothing was recorded."""

    code = "nothing_touched"

    def __init__(self) -> None:
        super().__init__(
            "this session has read and written no record yet; name the records it is about,"
            " or the packet to be closed"
        )
