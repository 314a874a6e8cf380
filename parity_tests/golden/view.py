"""All that is stored, as one caller sees it at one time, in our manner or in the SDK's."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from amfs_sqlite.rules.visibility import covers
from parity_tests.golden.comparison import moment

Entry = dict[str, Any]
Address = tuple[str, str]

HASHES = ("contentHash", "integrityChain", "commitId")


class RefusedError(Exception):
    """The call raises an error of this type in the SDK; here one that names one of these arguments."""

    def __init__(self, text: str, kind: str = "TypeError", arguments: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.kind = kind
        self.arguments = arguments


class Stored(NamedTuple):
    """A version, and the address it was written to."""

    address: Address
    entry: Entry


class Reading(NamedTuple):
    """One line of a read log."""

    address: Address
    version: int
    read_at: datetime

    @property
    def text(self) -> str:
        """The address as AMFS writes it."""
        return joined(*self.address)


def when(spelling: str) -> datetime:
    """The instant of a version; the earliest for what spells none, which only the SDK stores."""
    return moment(spelling) or datetime.min.replace(tzinfo=UTC)


def joined(entity_path: str, key: str) -> str:
    """An address as AMFS writes it."""
    return f"{entity_path}/{key}"


def address(entry: Entry) -> Address:
    """The address of an entry."""
    return entry["entityPath"], entry["key"]


class View:
    """Versions by key, and who may see which.

    `manner` holds the ids of the deviations (`deviations.py`) in which it is the SDK's view. `viewer` None
    sees all.
    """

    def __init__(
        self, stored: Iterable[Stored], manner: frozenset[str], viewer: str | None, now: datetime
    ) -> None:
        self.manner = manner
        self.viewer = viewer
        self.now = now
        self.slots: dict[Any, list[Entry]] = {}
        for place, entry in stored:
            self.slots.setdefault(self.slot(*place), []).append(entry)

    def slot(self, entity_path: str, key: str) -> Any:
        """What tells one key from another: the pair; in the SDK the joined text."""
        return joined(entity_path, key) if "address" in self.manner else (entity_path, key)

    def sees(self, entry: Entry) -> bool:
        """Whether the caller may see a version."""
        return self.viewer is None or entry["shared"] or entry["provenance"]["agentId"] == self.viewer

    def shows(self, entry: Entry) -> bool:
        """Whether the calls that do not hide in the SDK show a version."""
        return "private" in self.manner or self.sees(entry)

    def lives(self, entry: Entry) -> bool:
        """Whether a version has not expired, or never does."""
        if "expired" in self.manner or not entry["ttlAt"]:
            return True
        ends = moment(entry["ttlAt"])
        return ends is None or ends > self.now

    def is_within(self, entry: Entry, since: str | None, until: str | None) -> bool:
        """Whether a version was written in this span of time."""
        written = entry["provenance"]["writtenAt"]
        if "instants" in self.manner:
            return (not since or written >= since) and (not until or written <= until)
        first, last = (moment(bound) if bound else None for bound in (since, until))
        at = when(written)
        return (first is None or at >= first) and (last is None or at <= last)

    def current(self, entity_path: str, key: str) -> Entry | None:
        """The current version, whoever may see it."""
        found = self.slots.get(self.slot(entity_path, key))
        return found[-1] if found else None

    @property
    def versions(self) -> list[Entry]:
        """All versions, key by key in the order of first writes, whoever may see them."""
        return [entry for versions in self.slots.values() for entry in versions]

    def under(self, entity_path: str | None, *, superseded: bool) -> list[Entry]:
        """What a path covers, key by key in the order of first writes, whoever may see it."""
        return [
            entry
            for name, versions in self.slots.items()
            if self._covers(entity_path, name)
            for entry in (versions if superseded else versions[-1:])
        ]

    def counted(self) -> list[Entry]:
        """The current versions that are counted."""
        return [entry for entry in self.under(None, superseded=False) if self.shows(entry)]

    def lines(self, log: Iterable[Reading]) -> list[Reading]:
        """A read log with one line for each key, by the time of the last reading."""
        last = {self.slot(*reading.address): reading for reading in log}
        return sorted(last.values(), key=lambda line: line.read_at)

    def credited(self, text: str) -> Entry | None:
        """The current version that an outcome's text names: cut at the last '/' where there is one."""
        cuts = [i for i in reversed(range(len(text))) if text[i] == "/"]
        for cut in cuts[:1] if "address" in self.manner else cuts:
            entry = self.current(text[:cut], text[cut + 1 :])
            if entry is not None and self.shows(entry):
                return entry
        return None

    def _covers(self, entity_path: str | None, slot: Any) -> bool:
        if "address" in self.manner:
            return not entity_path or slot.startswith(f"{entity_path}/")
        return covers(entity_path, slot[0])
