"""`show` and `history`: one record, and every belief it has held."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import click

from amfs_sqlite.clock import spelled
from amfs_sqlite.errors import EntryNotFoundError, InvalidArgumentError
from amfs_sqlite.models import MemoryEntry
from bridge.cli import records
from bridge.cli.addresses import address, address_argument
from bridge.cli.layout import Row, blank, fact
from bridge.cli.options import (
    EPILOG,
    PLACE,
    answer,
    asked,
    full_option,
    json_option,
    limit_option,
    page,
    setting_options,
)
from bridge.cli.output import Output
from bridge.operations import entries
from bridge.session import Session


@click.command(epilog=EPILOG)
@address_argument
@click.option("--at", type=click.IntRange(min=1), metavar="N", help="Show version N, not the current one.")
@full_option
@json_option
@setting_options(*PLACE)
def show(words: Sequence[str], at: int | None, *, full: bool, as_json: bool) -> None:
    """Show one record with all its facts.

    Name it by SCOPE and KEY, or in one word as it is printed elsewhere: SCOPE/KEY, or SCOPE/KEY@N
    for version N. It is shown as it is stored; whether that is what was written, `verify` checks.

    JSON: {"ref", "entry", "supersededAt", "successCount", "failureCount",
    "withdrawn"}; entry has AMFS's names:
    entityPath, key, version, value, provenance, confidence, contentHash, integrityChain, ...
    """
    entry = asked(lambda store: _record(store.session, words, at))
    answer(lambda: records.document(entry), lambda out: _facts(out, entry, full=full), as_json=as_json)


@click.command(epilog=EPILOG)
@address_argument
@limit_option(entries.HISTORY_LIMIT)
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="N", help="Begin behind version N.")
@full_option
@json_option
@setting_options(*PLACE)
def history(words: Sequence[str], limit: int, after: int, *, full: bool, as_json: bool) -> None:
    """Show every belief a record has held, oldest first.

    They are linked by their hashes: each one in the chain is made of the content hash above it and
    the one before it, so that none can be changed alone. They are shown as stored: it is `verify`
    that checks them. Outcomes move the confidence of a belief and add none: see `outcomes`.

    JSON: {"records": [as in show], "nextAfter": N for --after, or null where nothing is left}.
    """
    found = asked(lambda store: _beliefs(store.session, words, after, limit + 1))
    shown, last = page(found, limit)
    answer(
        lambda: {
            "records": [records.document(entry) for entry in shown],
            "nextAfter": None if last is None else last.version,
        },
        lambda out: _chain(out, shown, after, last, full=full),
        as_json=as_json,
    )


async def _record(session: Session, words: Sequence[str], at: int | None) -> MemoryEntry:
    ref = await address(session, words)
    if at is not None and ref.version is not None:
        raise InvalidArgumentError("at", "names a version, and so does the reference; leave one out")
    version = ref.version if at is None else at
    if version is None:
        return await entries.read(session, ref.entity_path, ref.key)
    found = await entries.history(session, ref.entity_path, ref.key, after_version=version - 1, limit=1)
    if not found or found[0].version != version:
        raise EntryNotFoundError(ref.entity_path, ref.key, version)
    return found[0]


async def _beliefs(session: Session, words: Sequence[str], after: int, limit: int) -> Sequence[MemoryEntry]:
    ref = await address(session, words)
    return await entries.history(session, ref.entity_path, ref.key, after_version=after, limit=limit)


def _facts(out: Output, entry: MemoryEntry, *, full: bool) -> Iterator[Row]:
    current = entry.withdrawn or ("current" if entry.superseded_at is None else "superseded")
    yield fact("record", out.name(str(entry.ref), "bold"), out.text(current, "dim"))
    yield fact("scope", out.name(entry.entity_path))
    yield fact("key", out.name(entry.key))
    if entry.withdrawn:
        yield fact("value", records.belief(out, entry))
    elif isinstance(entry.value, str):
        yield from records.text(out, "text", entry.value)
    else:
        yield from records.text(out, "JSON", _indented(entry.value))
    exactly = out.text(repr(entry.confidence), "dim")
    yield fact("confidence", records.confidence(out, entry.confidence), exactly)
    since = f"success {entry.success_count}, failure {entry.failure_count} since this value was written"
    yield fact("outcomes", out.text(f"{since}; {entry.outcome_count} in all"))
    session = entry.provenance.session_id
    yield fact("author", out.name(entry.agent_id), *([out.name(session, "dim")] if session else []))
    yield fact("written", out.text(spelled(entry.written_at)))
    if entry.superseded_at is not None:
        yield fact("superseded", out.text(spelled(entry.superseded_at)))
    yield fact("visible to", out.text("everyone") if entry.shared else out.name(entry.agent_id, "yellow"))
    if entry.tags:
        yield fact("tags", *(out.name(tag, "cyan") for tag in entry.tags))
    if entry.ttl_at is not None:
        yield fact("expires", out.text(spelled(entry.ttl_at)))
    for artifact in entry.artifact_refs or ():
        yield fact("artifact", records.value(out, artifact.to_wire()))
    for name, value in (entry.model_extra or {}).items():
        yield fact("more", out.name(name), records.value(out, value))
    yield fact("content hash", out.hash(entry.content_hash, full=full))
    yield fact("chain", out.hash(entry.integrity_chain, full=full))
    yield fact("commit", out.hash(entry.commit_id, full=full))


def _indented(value: Any) -> str:
    """The value as JSON over several lines, as far as it is shown."""
    text = ""
    for piece in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
        text += piece
        if len(text) > records.TEXT_CHARACTERS:
            break
    return text


def _chain(
    out: Output, shown: Sequence[MemoryEntry], after: int, last: MemoryEntry | None, *, full: bool
) -> Iterator[Row]:
    if not shown:
        yield Row((out.text(f"no belief behind version {after}"),))
        return
    yield Row((records.ref(out, shown[0].entity_path, shown[0].key, style="bold"),))
    expected = after + 1
    for entry in shown:
        yield from _link(out, entry, expected, is_first=entry is shown[0])
        yield from _belief(out, entry, full=full)
        expected = entry.version + 1
    if last is not None:
        yield blank(out.marks.pause)
        yield Row((out.text(f"more: --after {last.version}", "dim"),), "  ", "  ")


def _link(out: Output, entry: MemoryEntry, expected: int, *, is_first: bool) -> Iterator[Row]:
    """The line from the belief before, or where it is broken."""
    if entry.version != expected:
        missing = f"version {expected} is missing: run amfs-sqlite verify"
        yield Row((out.text(missing, "bold red"),), f"{out.marks.pause} ", f"{out.marks.pause} ")
    elif expected > 1:
        yield blank(out.marks.pause if is_first else out.marks.line)


def _belief(out: Output, entry: MemoryEntry, *, full: bool) -> Iterator[Row]:
    rail = f"{out.marks.line}   "
    head = [
        out.text(f"v{entry.version}", "bold"),
        out.at(entry.written_at),
        out.name(entry.agent_id),
        records.confidence(out, entry.confidence),
        out.text("current" if entry.superseded_at is None and not entry.withdrawn else "", "dim"),
    ]
    if not entry.shared:
        head.append(out.text("private", "yellow"))
    chain = out.hash(entry.integrity_chain, full=full)
    chain.stylize("cyan")
    yield Row(tuple(head), f"{out.marks.item} ", rail)
    yield Row((records.belief(out, entry),), rail, rail)
    yield Row((out.text("content", "dim"), out.hash(entry.content_hash, full=full)), rail, rail)
    yield Row((out.text("chain  ", "cyan"), chain), f"{out.marks.link}   ", rail)
