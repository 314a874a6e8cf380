"""Errors between agents have the form of the store's."""

import pickle

import pytest

from amfs_sqlite import AmfsError
from bridge import errors
from parity_tests.ledger import proves

HOSTILE = "x\n\u202e" + "y" * 500

ERRORS = [
    errors.PacketNotFoundError(HOSTILE),
    errors.PacketStateError(HOSTILE, "claimed", "released", "wait", HOSTILE),
    errors.PacketNotYoursError(HOSTILE, HOSTILE, "claimed"),
    errors.PacketUnreadableError(HOSTILE, "value: is no packet"),
    errors.PrivatePinError(HOSTILE, HOSTILE),
    errors.ReservedPathError(HOSTILE),
    errors.NothingTouchedError(),
]


def test_every_error_of_the_bridge_is_looked_at_here() -> None:
    own = {
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, AmfsError) and each is not AmfsError
    }
    assert {type(each) for each in ERRORS} == own


@proves("bridge.errors")
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_an_error_is_one_printable_line_of_bounded_length(error: AmfsError) -> None:
    assert str(error).isprintable()
    assert len(str(error)) < 600


@proves("bridge.errors")
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_an_error_crosses_processes_with_its_facts(error: AmfsError) -> None:
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own error
    assert (type(copied), str(copied), vars(copied)) == (type(error), str(error), vars(error))


@proves("bridge.errors")
def test_codes_are_unique_in_the_whole_product() -> None:
    def below(kind: type[AmfsError]) -> list[type[AmfsError]]:
        return [kind, *(deeper for each in kind.__subclasses__() for deeper in below(each))]

    codes = [each.code for each in below(AmfsError)]
    assert sorted(codes) == sorted(set(codes))
