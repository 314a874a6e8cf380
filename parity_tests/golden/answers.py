"""What answers hold, and where two of them differ."""

from collections.abc import Callable, Mapping
from typing import Any

from amfs_sqlite.errors import quoted
from parity_tests.golden.comparison import Gap, difference
from parity_tests.golden.transcript import Answer
from parity_tests.golden.view import HASHES, Entry

HOLDS_ENTRIES = ("entry", "causalEntries")


def between(
    expected: Answer, got: Answer, spelled: Callable[[Any], Any] = lambda result: result
) -> Gap | None:
    """The first place where two answers differ. Of errors only that there is one is compared."""
    if (expected.error is None) != (got.error is None):
        return Gap("$", _raised(expected), _raised(got))
    if expected.error is not None or expected.is_void or got.is_void:
        return None
    return difference(spelled(expected.result), spelled(got.result))


def beside(recorded: Answer, sdk: Answer) -> Gap | None:
    """Where a recorded answer is not the foretold one in what is not compared with ours.

    That is which error was raised (of a TypeError the type alone: its text is the engine's), and that
    nothing was answered.
    """
    if recorded.error is not None and sdk.error is not None:
        told = [
            Answer(error="" if each.error_type == "TypeError" else each.error, error_type=each.error_type)
            for each in (recorded, sdk)
        ]
        return None if told[0] == told[1] else Gap("$", _raised(recorded), _raised(sdk))
    if recorded.is_void and not sdk.is_void and sdk.result is not None:
        return Gap("$", "nothing (undefined)", quoted(sdk.result))
    return None


def unnamed(foretold: Answer, got: Answer) -> Gap | None:
    """Where an error of ours does not name an argument that is refused."""
    if got.error is None or not foretold.arguments or any(name in got.error for name in foretold.arguments):
        return None
    return Gap("$", f"an error that names {' or '.join(foretold.arguments)}", _raised(got))


def said(answer: Answer) -> Any:
    """An answer as it stands in a recording: the result, or what was raised."""
    if answer.error is not None:
        return {"error": answer.error, "errorType": answer.error_type}
    return {"resultIsUndefined": True} if answer.is_void else answer.result


def _raised(answer: Answer) -> str:
    if answer.error is None:
        return "no error"
    return f"the error {answer.error_type or ''} {quoted(answer.error)}".replace("  ", " ")


def entries_in(result: Any) -> list[Entry]:
    """The entries that a result holds, those in values apart."""
    if isinstance(result, list):
        return [entry for each in result for entry in entries_in(each)]
    if not isinstance(result, dict):
        return []
    if _is_entry(result):
        return [result]
    return [entry for name in HOLDS_ENTRIES for entry in entries_in(result.get(name))]


def without_hashes(result: Any) -> Any:
    """A result whose entries have empty hashes."""
    return _each_entry(result, lambda entry: entry | {name: None for name in HASHES if name in entry})


def leaving_out_hashes(result: Any) -> Any:
    """A result whose entries have no hashes."""
    return _each_entry(
        result, lambda entry: {name: value for name, value in entry.items() if name not in HASHES}
    )


def _each_entry(result: Any, changed: Callable[[Entry], Entry]) -> Any:
    if isinstance(result, list):
        return [_each_entry(each, changed) for each in result]
    if not isinstance(result, dict):
        return result
    if _is_entry(result):
        return changed(result)
    inner = {name: _each_entry(result[name], changed) for name in HOLDS_ENTRIES if name in result}
    return result | inner


def has_hashes_of(recorded: Answer, sdk: Answer) -> bool:
    """Whether the hashes are the SDK's: null, or what a caller put there."""
    if recorded.error is not None or sdk.error is not None:
        return recorded.error is not None
    told, known = _hashes(recorded), _hashes(sdk)
    return told == known or (len(told) != len(known) and all(each == _NO_HASHES for each in told))


def _is_entry(result: Mapping[str, Any]) -> bool:
    return "provenance" in result and "entityPath" in result


def _hashes(answer: Answer) -> list[dict[str, Any]]:
    entries = entries_in(answer.result)
    return [{name: entry[name] for name in HASHES if name in entry} for entry in entries]


_NO_HASHES = dict.fromkeys(HASHES)
