"""Transcripts: what an adapter answered, complete, and short enough to be read by people."""

from typing import Any

from pydantic import BaseModel

from amfs_sqlite import Commit, MemoryEntry, RecordedOutcome
from parity_tests.state import plain, text

LONGEST_VALUE_CHARACTERS = 400


class Transcript:
    """Tells answers in their order.

    What was told before, and is the same to the last field, is told by its name alone; a field at
    its default is left out; of a long value its length is told (its content hash is told anyway).
    """

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        self.parts: list[Any] = []

    def tell(self, heading: str, answer: Any) -> None:
        """Add an answer."""
        self.parts.append({heading: self._shown(answer)})

    def __str__(self) -> str:
        return text(self.parts)

    def _shown(self, answer: Any) -> Any:
        if isinstance(answer, BaseModel):
            name, whole = _name(answer), text(answer)
            if name and self.told.get(name) == whole:
                return f"{name}, as before"
            if name:
                self.told[name] = whole
            return self._fields(answer)
        if isinstance(answer, dict):
            return {name: self._shown(each) for name, each in answer.items()}
        if isinstance(answer, list | tuple):
            return [self._shown(each) for each in answer]
        return plain(answer)

    def _fields(self, model: BaseModel) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for name, field in type(model).model_fields.items():
            member = getattr(model, name)
            if name == "value":
                shown[name] = _shortened(member)
            elif field.is_required() or text(member) != text(field.default):
                shown[name] = self._shown(member)
        return {**shown, **plain(model.model_extra or {})}


def _name(answer: BaseModel) -> str:
    if isinstance(answer, MemoryEntry):
        return f"{_shortened(answer.entity_path)} : {_shortened(answer.key)} @ {answer.version}"
    if isinstance(answer, Commit):
        return f"commit {answer.id}"
    if isinstance(answer, RecordedOutcome):
        return f"outcome of commit {answer.commit_id}"
    return ""


def _shortened(value: Any) -> Any:
    size = len(text(value))
    return plain(value) if size <= LONGEST_VALUE_CHARACTERS else f"({size} characters)"
