"""Reading an export: every line is checked against its hashes, and every commit against its digest."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar, get_args

from pydantic import ValidationError

from amfs_sqlite.errors import ImportLineError, quoted
from amfs_sqlite.modelling import Model
from amfs_sqlite.models import Commit, CommitKind, MemoryEntry, OutcomeEffect, OutcomeRecord
from amfs_sqlite.rules.commits import check_signature
from amfs_sqlite.rules.confidence import outcome_type
from amfs_sqlite.rules.hashing import (
    GENESIS,
    content_hash,
    digest_of,
    outcome_digest,
    record_digest,
    tree_hash,
)
from amfs_sqlite.rules.limits import (
    MAX_ADDRESS_CHARACTERS,
    check_count,
    check_entry,
    check_finite,
    check_flag,
    check_is_text,
    check_name,
    check_optional_name,
    check_outcome,
    check_whole_number,
    unacceptable,
)
from amfs_sqlite.rules.transfer import (
    FORMAT,
    FORMAT_VERSION,
    ExportedCommit,
    ExportedOutcome,
    ExportedVersion,
    ExportReport,
    ending,
)
from amfs_sqlite.rules.values import MAX_VALUE_BYTES, encode

Within = tuple[Commit, str | None]
"""A commit, and the id of the one that it describes."""
Address = tuple[str, str, str, str, int, str | None]
"""Namespace, branch, path, key and version, and the contentHash."""
M = TypeVar("M", bound=Model)

# A line holds four things of the size of a value at most, and a byte of each may be escaped to six.
MAX_LINE_BYTES = 4 * 6 * MAX_VALUE_BYTES
WITHDRAWN_KIND = "tombstone"
KINDS = ("write", "outcome", WITHDRAWN_KIND)
FIRST = {"format", "version", "storeId"}
COMMIT = {"commit", "sequence", "kind", "describes", "digest"}
VERSION = {"entry", "kind", "erased", "successCount", "failureCount", "extraHash", "recordDigest"}
OUTCOME = {"outcome", "effects", "digest"}
LAST = {"end"}
REFUSED = (ValueError, OverflowError, RecursionError)


class ExportReader:
    """Reads an export from ``read_line``, which is asked for the next line of at most so many bytes.

    The first line is read at once. Raises ImportLineError, here and from ``commits``.
    """

    def __init__(self, read_line: Callable[[int], bytes]) -> None:
        self._read_line = read_line
        self._previous = GENESIS
        self.line = 0
        """The number of the line read last, from 1."""
        self.byte_count = 0
        """How many bytes were read."""
        self._versions = self._outcomes = self._sequence = 0
        self._without_value: set[Address] = set()
        """The versions that no commit has erased yet, though they have no value."""
        try:
            first = self._next()
        except ImportLineError:
            first = {}
        if first.keys() != FIRST or first["format"] != FORMAT:
            self._refuse("is not the first line of an export of amfs-sqlite")
        if first["version"] != FORMAT_VERSION:
            version = quoted(first["version"])
            self._refuse(f"names version {version} of the format, and {FORMAT_VERSION} is known here")
        self.store_id: str = self._checked(_store_id, first["storeId"])

    def commits(self) -> Iterator[ExportedCommit]:
        """Every commit, oldest first, each complete and checked. When they end, the export is whole."""
        members = self._next()
        while members.keys() == COMMIT:
            number, changes = self.line, list[ExportedVersion | ExportedOutcome]()
            commit = self._checked(_commit, members)
            members = self._next()
            while members.keys() in (VERSION, OUTCOME):
                read = _version if members.keys() == VERSION else _outcome
                changes.append(self._checked(read, members, self.line, commit))
                members = self._next()
            yield self._complete(number, commit, changes)
        if members.keys() != LAST:
            self._refuse("is no line of an export in this place")
        self._end(members["end"])

    def _complete(
        self,
        number: int,
        within: Within,
        changes: Sequence[ExportedVersion | ExportedOutcome],
    ) -> ExportedCommit:
        """The commit, whose digest covers it, all its lines, and through the digest before it all before."""
        commit, describes = within
        if commit.sequence != self._sequence + 1:
            raise ImportLineError(number, f"is commit {commit.sequence}, where {self._sequence + 1} belongs")
        versions = [each for each in changes if isinstance(each, ExportedVersion)]
        if versions and tree_hash(each.entry.content_hash or "" for each in versions) != commit.tree_hash:
            raise ImportLineError(number, "does not have the treeHash of its versions")
        outcomes = [each for each in changes if isinstance(each, ExportedOutcome)]
        if _digest(self._previous, commit, describes, versions, outcomes) != commit.digest:
            raise ImportLineError(
                number, "is a commit that, with its versions and outcomes, is not what its digest says"
            )
        self._account(number, commit, versions)
        complete = ExportedCommit(number, self._previous, commit, describes, changes)
        self._sequence, self._previous = commit.sequence, commit.digest
        self._versions += len(versions)
        self._outcomes += len(outcomes)
        return complete

    def _account(self, number: int, commit: Commit, versions: Sequence[ExportedVersion]) -> None:
        """Every version without its value is erased by a later commit, and no commit erases anything else."""
        place = (commit.namespace, commit.branch)
        for named in commit.entries if commit.kind == "erase" else ():
            erased = (*place, named.entity_path, named.key, named.version, named.content_hash)
            if erased not in self._without_value:
                about = f"version {named.version} of {quoted(named.key)} under {quoted(named.entity_path)}"
                raise ImportLineError(
                    number,
                    f"erases {about}, which does not stand before it without value under this contentHash",
                )
            self._without_value.remove(erased)
        for entry in (each.entry for each in versions if each.is_erased):
            written = (*place, entry.entity_path, entry.key, entry.version, entry.content_hash)
            self._without_value.add(written)

    def _end(self, said: Any) -> None:
        found = ExportReport(
            store_id=self.store_id,
            commit_count=self._sequence,
            version_count=self._versions,
            outcome_count=self._outcomes,
            sequence=self._sequence,
            digest=self._previous,
        )
        if said != ending(found):
            self._refuse("counts otherwise than the lines before it")
        if self._without_value:
            count = len(self._without_value)
            self._refuse(f"ends the export, and {count} versions in it have no value that no commit erases")
        if self._read_line(1):
            self.line += 1
            self._refuse("stands behind the last line of the export")

    def _next(self) -> dict[str, Any]:
        self.line += 1
        text = self._read_line(MAX_LINE_BYTES + 1)
        self.byte_count += len(text)
        if len(text) > MAX_LINE_BYTES:
            self._refuse(f"is longer than {MAX_LINE_BYTES} bytes")
        if not text:
            self._refuse("is missing: the export was cut, for its last line counts all before it")
        try:
            members = _parse(text.decode())
        except UnicodeDecodeError:
            self._refuse("is not UTF-8")
        except (ValueError, RecursionError) as refused:
            cut = "" if text.endswith(b"\n") else "; perhaps the export was cut"
            self._refuse(f"is no JSON that can be read: {refused}{cut}")
        if not isinstance(members, dict):
            self._refuse("is no JSON object")
        return members

    def _checked(self, read: Callable[..., Any], *members: Any) -> Any:
        try:
            return read(*members)
        except ValidationError as refused:
            self._refuse(f"is not acceptable: {unacceptable(refused)}")
        except REFUSED as refused:
            self._refuse(f"is not acceptable: {refused}")

    def _refuse(self, problem: str) -> NoReturn:
        raise ImportLineError(self.line, problem)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_parse = json.JSONDecoder(parse_constant=_no_number).decode


def _store_id(given: str) -> str:
    check_name(given, "storeId")
    return given


def _model(kind: type[M], wire: Any, /, **more: Any) -> M:
    """The model of exactly this wire form, and of what goes beside it."""
    if not isinstance(wire, dict):
        raise ValueError(f"a {kind.__name__} is written as an object")  # noqa: TRY004 - told of the line
    model = kind.model_validate({**wire, **more})
    if model.to_wire() != wire:
        raise ValueError(f"is not how a {kind.__name__} is written")
    return model


def _commit(members: dict[str, Any]) -> Within:
    if members["kind"] not in get_args(CommitKind):
        raise ValueError(f"kind is {quoted(members['kind'])}")
    check_is_text(members["digest"], "digest")
    check_whole_number(members["sequence"], "sequence")
    check_optional_name(members["describes"], "describes")
    beside = {name: members[name] for name in ("sequence", "kind", "digest")}
    commit = _model(Commit, members["commit"], **beside)
    _check_commit(commit)
    return commit, members["describes"]


def _check_commit(commit: Commit) -> None:
    check_signature(commit.author_agent_id, commit.message, commit.session_id, None)
    for name in (commit.id, commit.namespace, commit.branch, *commit.parent_ids):
        check_name(name, "commit")
    for entry in commit.entries:
        check_name(entry.entity_path, "entity_path", MAX_ADDRESS_CHARACTERS)
        check_name(entry.key, "key", MAX_ADDRESS_CHARACTERS)
        check_whole_number(entry.version, "version")
    encode([entry.to_wire() for entry in commit.entries], "entries")


def _version(members: dict[str, Any], number: int, within: Within) -> ExportedVersion:
    commit, _ = within
    kind, is_erased, extra_hash = members["kind"], members["erased"], members["extraHash"]
    check_flag(is_erased, "erased")
    check_is_text(extra_hash, "extraHash")
    if kind not in KINDS or (is_erased and kind == WITHDRAWN_KIND):
        raise ValueError(f"kind is {quoted(kind)}")
    counts = {"success_count": members["successCount"], "failure_count": members["failureCount"]}
    for name, count in counts.items():
        check_whole_number(count, name)
    entry = _model(MemoryEntry, members["entry"], **counts)
    _check_version(entry, commit)
    value = _value_of(entry, kind, is_erased=is_erased)
    if not is_erased and content_hash(entry.model_extra or {}) != extra_hash:
        raise ValueError("the unknown fields do not hash to their extraHash")
    digest = record_digest(
        entry, namespace=commit.namespace, branch=commit.branch, kind=kind, extra_hash=extra_hash
    )
    if digest != members["recordDigest"]:
        raise ValueError("something written with this version differs from its recordDigest")
    return ExportedVersion(number, entry, kind, value, is_erased, extra_hash, digest)


def _check_version(entry: MemoryEntry, commit: Commit) -> None:
    check_entry(entry)
    encode(entry.model_extra or {}, "extra")
    check_whole_number(entry.version, "version")
    if entry.provenance.written_at is None or not entry.version:
        raise ValueError("a stored version has a number from 1 and an instant of writing")
    if entry.commit_id != commit.id:
        raise ValueError(f"commitId is {quoted(entry.commit_id)}, not the commit it stands under")


def _value_of(entry: MemoryEntry, kind: str, *, is_erased: bool) -> str | None:
    """The text of a value that hashes to its contentHash; None where there is none."""
    if is_erased:
        if entry.value is not None or entry.model_extra:
            raise ValueError("what was erased has no value and no unknown fields")
        return None
    text = encode(entry.value)
    if content_hash(entry.value) != entry.content_hash:
        raise ValueError("the value does not hash to its contentHash")
    if kind != WITHDRAWN_KIND:
        return text
    if entry.value is not None:
        raise ValueError("a tombstone has no value")
    return None


def _outcome(members: dict[str, Any], number: int, _within: object) -> ExportedOutcome:
    record = _model(OutcomeRecord, members["outcome"])
    check_outcome(record)
    outcome_type(record.outcome_type)
    encode(members["outcome"], "outcome")
    if not isinstance(members["effects"], list):
        raise ValueError("effects are a list")  # noqa: TRY004 - told of the line
    effects = [_model(OutcomeEffect, effect) for effect in members["effects"]]
    for effect in effects:
        _check_effect(effect)
    if outcome_digest(members["outcome"], effects) != members["digest"]:
        raise ValueError("the outcome or one of its effects differs from its digest")
    return ExportedOutcome(number, record, effects)


def _check_effect(effect: OutcomeEffect) -> None:
    check_whole_number(effect.version, "version")
    check_finite(effect.confidence_before, "confidence_before")
    check_finite(effect.confidence_after, "confidence_after")
    check_count(effect.resulting_version, "resulting_version")
    if effect.applied and effect.resulting_version not in (effect.version, effect.version + 1):
        raise ValueError("an applied effect has a resulting version")


def _digest(
    previous: str,
    commit: Commit,
    describes: str | None,
    versions: Sequence[ExportedVersion],
    outcomes: Sequence[ExportedOutcome],
) -> str:
    return digest_of(
        commit,
        previous,
        describes=describes,
        record_digests=[each.record_digest for each in versions],
        outcome_digests=[outcome_digest(each.record.to_wire(), each.effects) for each in outcomes],
    )
