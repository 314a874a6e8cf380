"""`erase`, `prune` and `archive`: letting go, never by accident."""

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

import click

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import CommitEntry, EntryRef, RetentionReport
from amfs_sqlite.rules.redaction import redact
from bridge import rendering
from bridge.cli import records
from bridge.cli.addresses import address
from bridge.cli.exits import DONE, FOUND, INTERRUPTED
from bridge.cli.layout import Row
from bridge.cli.options import EPILOG, PLACE, F, answer, asked, given_settings, json_option, setting_options
from bridge.cli.output import Output
from bridge.cli.store import ask, complain, place
from bridge.operations import retention
from bridge.session import Session

SIGNED = (*PLACE, "agent", "redact_secrets")
SHOWN = 20

INTERRUPTED_BEFORE = "ended before anything was erased"
# The words of the store itself, in its warnings, say the same.
INTERRUPTED_AFTER = (
    "{versions} erased, and ended before the file was written anew: its free space and its log may hold it"
    " until a writer closes, the next erasure, or 'amfs-sqlite doctor --fix'"
)

Removal = Callable[[Session, bool], Awaitable[RetentionReport]]
"""A removal on this session; whether it only looks."""
Unmatched = Callable[[], tuple[str, int]]
"""Why there was nothing to let go of, and the code to end with."""


def removal_options(function: F) -> F:
    """What every removal takes: whether only to look, whether to ask, and why it is done."""
    for option in (
        click.option("--message", "-m", default="", metavar="TEXT", help="Why, for the commit log."),
        click.option("--yes", is_flag=True, help="Do not ask."),
        click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing."),
    ):
        function = option(function)
    return function


@click.command(epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="[SCOPE KEY | SCOPE/KEY]")
@click.option("--at", type=click.IntRange(min=1), metavar="N", help="Erase version N alone.")
@click.option("--written-by", metavar="AGENT", help="Erase everything that this agent wrote.")
@removal_options
@json_option
@setting_options(*SIGNED)
def erase(
    words: Sequence[str],
    at: int | None,
    written_by: str | None,
    *,
    message: str,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Erase values for good.

    Those of a record with its history, of one version, or of all that an agent wrote. The value goes from
    the rows, the text index, the log and the free space of the file. That a version was there, by whom,
    when and with which hashes, stays, and the store still verifies. Backups, exports and other copies are
    not touched: erase there too.

    JSON: {"dryRun", "versions": [{"entityPath", "key", "version", "contentHash"}], "commitIds", "remains",
    "redacted": {pattern: count} of the message}.
    """
    if len(words) > 2 or bool(words) == bool(written_by):
        raise click.UsageError(
            "Name one record, as SCOPE KEY or as SCOPE/KEY, or an agent with --written-by."
        )
    if at is not None and not words:
        raise click.UsageError("--at is a version of the record that is named.")

    async def removal(session: Session, look: bool) -> RetentionReport:
        refs = [await _named(session, words, at)] if words else []
        return await retention.erase(session, refs, written_by=written_by, message=message, dry_run=look)

    def unmatched() -> tuple[str, int]:
        if written_by is None or asked(lambda store: retention.has_written(store.session, written_by)):
            return "nothing of it is left: no version has its value still", DONE
        return f"nothing matched: no agent {quoted(written_by)} has written here", FOUND

    return _done(removal, unmatched, "erase", message, yes=yes, dry_run=dry_run, as_json=as_json)


@click.command(epilog=EPILOG)
@click.argument("scope", required=False)
@click.option("--keep-last", type=click.IntRange(min=1), metavar="N", help="Keep the newest N versions.")
@click.option("--keep-days", type=click.FloatRange(min=0), metavar="DAYS", help="Keep what was current then.")
@removal_options
@json_option
@setting_options(*SIGNED)
def prune(
    scope: str | None,
    keep_last: int | None,
    keep_days: float | None,
    *,
    message: str,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Erase old versions at or below SCOPE, or everywhere.

    The current version of every record stays, and so does what an unfinished packet pins. What is kept by
    either number stays.

    JSON: {"dryRun", "versions", "commitIds", "remains", "redacted"}, each as erase has it.
    """
    if keep_last is None and keep_days is None:
        raise click.UsageError("Say what is to be kept, with --keep-last or --keep-days.")

    def removal(session: Session, look: bool) -> Awaitable[RetentionReport]:
        return retention.prune(
            session, scope, keep_last=keep_last, keep_days=keep_days, message=message, dry_run=look
        )

    def unmatched() -> tuple[str, int]:
        return f"nothing matched: no version {_below(scope)} that is not to be kept", DONE

    return _done(removal, unmatched, "erase", message, yes=yes, dry_run=dry_run, as_json=as_json)


@click.command(epilog=EPILOG)
@click.argument("scope", required=False)
@removal_options
@json_option
@setting_options(*SIGNED)
def archive(scope: str | None, *, message: str, yes: bool, dry_run: bool, as_json: bool) -> int:
    """Put away what has expired at or below SCOPE, or everywhere.

    Its next version says that nothing is there; `history` still shows what was. `erase` removes it for good.

    JSON: {"dryRun", "versions", "commitIds", "remains", "redacted"}, each as erase has it.
    """

    def removal(session: Session, look: bool) -> Awaitable[RetentionReport]:
        return retention.archive(session, scope, message=message, dry_run=look)

    def unmatched() -> tuple[str, int]:
        return f"nothing matched: nothing {_below(scope)} has expired", DONE

    return _done(removal, unmatched, "archive", message, yes=yes, dry_run=dry_run, as_json=as_json)


async def _named(session: Session, words: Sequence[str], at: int | None) -> EntryRef:
    ref = await address(session, words)
    if at is not None and ref.version is not None:
        raise InvalidArgumentError("at", "names a version, and so does the reference; leave one out")
    return ref if at is None else ref.model_copy(update={"version": at})


def _below(scope: str | None) -> str:
    return f"at or below {quoted(scope)}" if scope else "in this namespace"


def _done(
    removal: Removal,
    unmatched: Unmatched,
    verb: str,
    message: str,
    *,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Look, show and ask, do it, tell. Where there is nothing to let go of, nobody is asked."""
    if yes and dry_run:
        raise click.UsageError("--yes does it and --dry-run does not; leave one out.")
    report = asked(lambda store: removal(store.session, True))
    if not dry_run and (yes or report.versions):
        if not yes:
            _ask(report, verb)
        report = _removed(removal, report, verb)
    why, code = ("", DONE) if report.versions or report.remains else unmatched()
    redacted = redact(message).counts if place(given_settings()).redact_secrets else {}
    answer(
        lambda: {
            "dryRun": report.dry_run,
            "versions": [each.to_wire() for each in report.versions],
            "commitIds": list(report.commit_ids),
            "remains": list(report.remains),
            "redacted": dict(redacted),
        },
        lambda out: _rows(out, report, f"{verb}d", redacted, why),
        as_json=as_json,
    )
    return FOUND if report.remains else code


def _removed(removal: Removal, looked: RetentionReport, verb: str) -> RetentionReport:
    """Do it. Raises click.exceptions.Exit where it was interrupted, with what was done by then told."""
    try:
        return asked(lambda store: removal(store.session, False))
    except KeyboardInterrupt:
        if verb != "erase" or not looked.versions:
            raise
        first = looked.versions[0]
        is_erased = ask(given_settings() | {"mode": "ro"}, lambda store: _is_erased(store.session, first))
        versions = rendering.counted(len(looked.versions), "version")
        after = INTERRUPTED_AFTER.format(versions=versions)
        complain("interrupted", after if is_erased else INTERRUPTED_BEFORE)
        raise click.exceptions.Exit(INTERRUPTED) from None


async def _is_erased(session: Session, listed: CommitEntry) -> bool:
    """Whether this version was erased: then all were that go in the same call."""
    path, key, version = listed.entity_path, listed.key, listed.version
    found = await session.adapter.read_at_version(path, key, version, viewer=session.viewer)
    return found is not None and found.withdrawn == "erased"


def _ask(looked: RetentionReport, verb: str) -> None:
    if not (sys.stdin and sys.stdin.isatty()):
        raise click.UsageError("Nothing was done: look with --dry-run, then give --yes.")
    out = Output(sys.stderr)
    out.show(_versions(out, looked))
    click.confirm(f"{verb} {rendering.counted(len(looked.versions), 'version')}?", abort=True, err=True)


def _rows(
    out: Output, report: RetentionReport, verbed: str, redacted: Mapping[str, int], why: str
) -> Iterator[Row]:
    versions = rendering.counted(len(report.versions), "version")
    would = "would be " if report.dry_run and report.versions else ""
    yield Row((out.text(f"{versions} {would}{verbed}", "bold"),))
    yield from _versions(out, report)
    if why:
        yield Row((out.line(why),), "  ", "  ")
    for remains in report.remains:
        yield Row((out.line(remains, "yellow"),), "  ", "  ")
    if redacted:
        told = ", ".join(f"{count} {name}" for name, count in sorted(redacted.items()))
        yield Row((out.text(f"redacted in the message: {told}"),), "  ", "  ")


def _versions(out: Output, report: RetentionReport) -> Iterator[Row]:
    for each in report.versions[:SHOWN]:
        yield Row((records.ref(out, each.entity_path, each.key, each.version),), "  ", "  ")
    if len(report.versions) > SHOWN:
        yield Row((out.text(f"and {len(report.versions) - SHOWN} more; --json has all", "dim"),), "  ", "  ")
