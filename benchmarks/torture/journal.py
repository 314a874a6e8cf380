"""What clients were told, kept outside the store: a line for each request and for each answer."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SUFFIX = ".journal"
Stored = tuple[str, str, int, str]
"""Path, key, version and the mark that the value carries."""


class Journal:
    """Lines that one client appends, each with one call to the system; a killed client leaves whole ones."""

    def __init__(self, folder: Path, client: str) -> None:
        self.client = client
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._descriptor = os.open(folder / f"{client}{SUFFIX}", flags, 0o600)

    def asks(self, mark: str, work: Mapping[str, Any]) -> None:
        """Before the call: what is about to be asked for."""
        self._tell({"asked": mark, "work": work})

    def was_told(self, mark: str, stored: Sequence[Stored]) -> None:
        """After the answer: what is stored now, as the answer says."""
        self._tell({"acknowledged": mark, "stored": stored})

    def was_declined(self, mark: str) -> None:
        """After an answer that nothing was stored."""
        self._tell({"declined": mark})

    def erases(self, mark: str) -> None:
        """Before an erasure: what was stored under this mark is about to go."""
        self._tell({"erasing": mark})

    def was_erased(self, mark: str) -> None:
        """After the answer: it is gone from all files of the store."""
        self._tell({"erased": mark})

    def was_archived(self, mark: str) -> None:
        """After the answer: it is history, and nothing is there now."""
        self._tell({"archived": mark})

    def close(self) -> None:
        """No more lines."""
        os.close(self._descriptor)

    def _tell(self, line: Mapping[str, Any]) -> None:
        os.write(self._descriptor, json.dumps(line).encode() + b"\n")


@dataclass(slots=True)
class Told:
    """What all journals of a folder say together."""

    asked: dict[str, dict[str, Any]] = field(default_factory=dict)
    acknowledged: dict[str, list[Stored]] = field(default_factory=dict)
    declined: set[str] = field(default_factory=set)
    erasing: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    archived: set[str] = field(default_factory=set)

    @property
    def stored(self) -> Iterator[Stored]:
        """Every version that was acknowledged and is to be there."""
        for mark, each in self.acknowledged.items():
            if mark not in self.erasing:
                yield from each

    def unanswered(self) -> dict[str, dict[str, Any]]:
        """Requests whose answer nobody heard."""
        answered = self.acknowledged.keys() | self.declined
        return {mark: work for mark, work in self.asked.items() if mark not in answered}

    def add(self, line: Mapping[str, Any]) -> None:
        """Take one line in."""
        if "asked" in line:
            self.asked[line["asked"]] = line["work"]
        elif "declined" in line:
            self.declined.add(line["declined"])
        elif "erasing" in line:
            self.erasing.add(line["erasing"])
        elif "erased" in line:
            self.erased.add(line["erased"])
        elif "archived" in line:
            self.archived.add(line["archived"])
        else:
            path_key_version_mark = [(each[0], each[1], each[2], each[3]) for each in line["stored"]]
            self.acknowledged[line["acknowledged"]] = path_key_version_mark


def told(folder: Path, client: str = "*") -> Told:
    """What the journals of this client, or of all, say; a line that was cut off was not said."""
    found = Told()
    for journal in sorted(folder.glob(f"{client}{SUFFIX}")):
        whole, _, _ = journal.read_text(encoding="utf-8").rpartition("\n")
        for line in whole.splitlines():
            found.add(json.loads(line))
    return found
