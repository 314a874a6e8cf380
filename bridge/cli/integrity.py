"""`verify` and `anchor`: whether what is stored is what was written, and what to hold it against later."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import Finding, VerifyReport
from amfs_sqlite.rules import anchors
from bridge import rendering
from bridge.cli import records
from bridge.cli.exits import DONE, FOUND
from bridge.cli.layout import Row, blank
from bridge.cli.options import EPILOG, PLACE, answer, asked, json_option, setting_options
from bridge.cli.output import Output
from bridge.cli.progress import bar
from bridge.cli.store import complain
from bridge.operations import integrity

F = TypeVar("F", bound=Callable[..., Any])

NEXT = (
    "next: keep the file and those beside it as they are, compare them with a backup,"
    " and rely on nothing that is named here"
)
LARGEST_FILE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Held:
    """What a store is held against: an anchor, one to begin at, and the key of both."""

    anchor: anchors.Anchor | None
    since: anchors.Anchor | None
    key: bytes | None


def file_option(flag: str, meaning: str) -> Callable[[F], F]:
    """A file that a command reads."""
    return click.option(flag, metavar="FILE", type=click.Path(path_type=Path), help=meaning)


@click.command(epilog=EPILOG)
@file_option("--anchor", "Hold the store against an anchor that was kept elsewhere.")
@file_option("--since", "Hold it against this anchor, and check only what came after.")
@file_option("--key-file", "Check the anchors' signatures by this secret, or Ed25519's key in PEM.")
@json_option
@setting_options(*PLACE)
def verify(*, anchor: Path | None, since: Path | None, key_file: Path | None, as_json: bool) -> int:
    """Check every hash and link; end with 1 if any is broken.

    Nothing is repaired, and nothing is changed. With --anchor it is told too whether the store is the
    one that the anchor was taken of, gone on since, and not an older or a rewritten one.

    JSON: {"ok", "keyCount", "versionCount", "commitCount", "outcomeCount", "checkedFrom", "findings":
    [{"code", "message", "entityPath", "key", "version", "commitId"}]}.
    """
    held = Held(_anchor(anchor, "--anchor"), _anchor(since, "--since"), _key(key_file))
    if held.key is not None and held.anchor is None and held.since is None:
        raise InvalidArgumentError("--key-file", "is for an anchor's signature; give --anchor or --since too")
    with bar("verifying") as progress:
        report = asked(
            lambda store: integrity.verify(
                store.session, anchor=held.anchor, since=held.since, key=held.key, progress=progress
            )
        )
    answer(
        lambda: {"ok": report.ok} | report.to_wire(), lambda out: _rows(out, report, held), as_json=as_json
    )
    return DONE if report.ok else FOUND


@click.command(epilog=EPILOG)
@file_option("--key-file", "Sign it by this secret, or by Ed25519's private key in PEM.")
@json_option
@setting_options(*PLACE)
def anchor(*, key_file: Path | None, as_json: bool) -> int:
    """Print what the store comes to now, to be kept elsewhere.

    It is one line of JSON; 'verify --anchor' holds the store against it later. Run 'verify' first: an
    anchor takes what stands in the store for granted.

    JSON: {"formatVersion", "storeId", "sequence", "digest", "keyCount", "versionCount", "outcomeCount",
    "takenAt", "signature": {"algorithm", "value"}}.
    """
    key = _key(key_file)
    taken = asked(lambda store: integrity.anchor(store.session, key=key))
    if as_json:
        Output().document(taken.to_wire())
    else:
        Output().whole(anchors.text_of(taken))
    return DONE


def _anchor(path: Path | None, argument: str) -> anchors.Anchor | None:
    if path is None:
        return None
    try:
        text = _read(path, argument).decode()
    except UnicodeDecodeError as refused:
        raise InvalidArgumentError(argument, "is no anchor: it is no text in UTF-8") from refused
    return anchors.parsed(text, argument)


def _key(path: Path | None) -> bytes | None:
    if path is None:
        return None
    key = _read(path, "--key-file")
    anchors.check_key(key, "--key-file")
    _warn_if_wide(path, key)
    return key


def _warn_if_wide(path: Path, key: bytes) -> None:
    """A public key is for others; a secret that they can read signs for them too."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077 and b"PUBLIC KEY" not in key:
        complain("warning", f"{path} can be read by other users (mode {mode:o}); chmod 600 keeps it private")


def _read(path: Path, argument: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE_BYTES)
    except OSError as failed:
        raise InvalidArgumentError(argument, f"cannot be read: {failed.strerror}") from failed


def _rows(out: Output, report: VerifyReport, held: Held) -> Iterator[Row]:
    counts = (
        (report.key_count, "key"),
        (report.version_count, "version"),
        (report.commit_count, "commit"),
        (report.outcome_count, "outcome"),
    )
    checked = ", ".join(rendering.counted(*each) for each in counts)
    behind = "" if report.checked_from == 1 else f" from commit {report.checked_from} on, none before"
    yield Row((out.text(f"checked {checked}{behind}"),))
    if report.ok:
        yield Row((out.text("all hashes and links hold", "bold green"),))
        told = [_extends(each, held.key) for each in (held.anchor, held.since) if each is not None]
        for line in dict.fromkeys(told):
            yield Row((out.text(line),))
        return
    found = rendering.counted(len(report.findings), "finding")
    yield Row((out.text(f"{found}: do not trust what is named here", "bold red"),))
    yield blank()
    for finding in report.findings:
        yield from _finding(out, finding)
    yield blank()
    yield Row((out.text(NEXT),), rail="  ")


def _extends(anchor: anchors.Anchor, key: bytes | None) -> str:
    """What an anchor that holds proves, and how far it can be trusted itself."""
    if key is not None:
        trust = "its signature is by this key"
    elif anchor.signature is not None:
        trust = "its signature was not checked, for want of --key-file"
    else:
        trust = "it is not signed"
    return f"the store goes on from the anchor of commit {anchor.sequence}; {trust}"


def _finding(out: Output, finding: Finding) -> Iterator[Row]:
    where = out.text("")
    if finding.entity_path is not None and finding.key is not None:
        where = records.ref(out, finding.entity_path, finding.key, finding.version, "bold")
    elif finding.commit_id is not None:
        where = out.text(f"commit {rendering.word(finding.commit_id)}", "bold")
    yield Row((out.text(finding.code, "red"), where), rail="  ")
    yield Row((out.line(finding.message),), "  ", "  ")
