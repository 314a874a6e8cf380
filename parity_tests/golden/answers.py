"""What answers hold, and where two of them differ."""

from collections.abc import Callable, Mapping
from typing import Any

from parity_tests.golden.comparison import difference
from parity_tests.golden.transcript import Answer
from parity_tests.golden.view import HASHES, Entry

HOLDS_ENTRIES = ("entry", "causalEntries")


def between(
    expected: Answer, got: Answer, spelled: Callable[[Any], Any] = lambda result: result
) -> str | None:
    """The first place where two answers differ, and how. Of errors only that there is one is compared."""
    if (expected.error is None) != (got.error is None):
        told = (
            f"raises {answer.error!r}" if answer.error is not None else "answers"
            for answer in (expected, got)
        )
        return " is not ".join(told)
    if expected.error is not None or expected.is_void or got.is_void:
        return None
    return difference(spelled(expected.result), spelled(got.result))


def said(answer: Answer) -> Any:
    """The result, or what was raised."""
    return answer.result if answer.error is None else f"{answer.error_type or 'error'}: {answer.error}"


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
    if isinstance(result, list):
        return [without_hashes(each) for each in result]
    if not isinstance(result, dict):
        return result
    if _is_entry(result):
        return result | {name: None for name in HASHES if name in result}
    inner = {name: without_hashes(result[name]) for name in HOLDS_ENTRIES if name in result}
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
