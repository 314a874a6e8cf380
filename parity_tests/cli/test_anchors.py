"""`anchor`, and `verify` against an anchor and since one."""

import asyncio
import json
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from amfs_sqlite import HANDOFF, SqliteAdapter
from bridge.cli.progress import bar
from parity_tests.cli.conftest import Run, looked
from parity_tests.drafts import draft
from parity_tests.ledger import proves

HOLDS = "all hashes and links hold\n"


@pytest.fixture
def secret(tmp_path: Path) -> str:
    path = tmp_path / "secret"
    path.write_bytes(b"a secret of more than sixteen bytes")
    path.chmod(0o600)
    return str(path)


@pytest.fixture
def pair(tmp_path: Path) -> Sequence[str]:
    """A private key and its public one."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    for name, content in (("private", private), ("public", public)):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "private").chmod(0o600)
    return str(tmp_path / "private"), str(tmp_path / "public")


def kept(run: Run, path: Path, *arguments: str) -> str:
    """An anchor as it was printed, in a file."""
    taken = run("anchor", *arguments)
    assert (taken.code, taken.err, taken.out.count("\n")) == (0, "", 1)
    path.write_text(taken.out)
    return str(path)


def write(store: Path) -> None:
    async def written() -> None:
        async with SqliteAdapter(store, outcomes=HANDOFF) as adapter:
            await adapter.write(draft("listing/9", "assessment", "later"))

    asyncio.run(written())


@proves("cli.anchor")
def test_an_anchor_is_printed_as_one_document_that_the_store_gives(store: Path, run: Run) -> None:
    anchor = looked(store, lambda adapter: adapter.anchor())
    for printed in (run("anchor"), run("anchor", "--json")):
        assert printed.document == anchor.to_wire() | {"takenAt": printed.document["takenAt"]}


@proves("cli.anchor", "cli.no-file")
def test_where_there_is_no_store_there_is_no_anchor(tmp_path: Path, run: Run) -> None:
    ran = run("anchor", "--db", str(tmp_path / "missing.db"))
    assert (ran.code, ran.out, ran.err.partition(":")[0]) == (3, "", "no_store")
    assert list(tmp_path.iterdir()) == []


@proves("cli.anchor")
def test_a_store_that_went_on_holds_against_its_anchor(store: Path, run: Run, tmp_path: Path) -> None:
    anchor = kept(run, tmp_path / "anchor.json")
    write(store)
    shown = run("verify", "--anchor", anchor)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == (
        "checked 8 keys, 12 versions, 13 commits, 2 outcomes\n"
        f"{HOLDS}the store goes on from the anchor of commit 12; it is not signed\n"
    )


@proves("cli.anchor")
def test_since_an_anchor_only_what_came_after_is_checked_and_said_to_be(
    store: Path, run: Run, tmp_path: Path
) -> None:
    anchor = kept(run, tmp_path / "anchor.json")
    write(store)
    shown = run("verify", "--since", anchor)
    assert shown.out.startswith(
        "checked 1 key, 1 version, 1 commit, 0 outcomes from commit 13 on, none before\n"
    )
    document = run("verify", "--since", anchor, "--json").document
    assert (document["ok"], document["checkedFrom"], document["versionCount"]) == (True, 13, 1)


@proves("cli.anchor", "cli.exit-codes")
def test_an_older_copy_does_not_hold_and_ends_with_1(store: Path, run: Run, tmp_path: Path) -> None:
    older = store.read_bytes()
    write(store)
    anchor = kept(run, tmp_path / "anchor.json")
    store.write_bytes(older)
    shown = run("verify", "--anchor", anchor)
    assert (shown.code, shown.err) == (1, "")
    assert "\nanchor\n  the newest commit is 12, and the anchor knows commit 13: what came" in shown.out
    assert run("verify").code == 0


@proves("cli.anchor")
def test_a_signature_is_checked_by_the_secret_it_was_made_with(
    store: Path, run: Run, tmp_path: Path, secret: str
) -> None:
    anchor = kept(run, tmp_path / "anchor.json", "--key-file", secret)
    shown = run("verify", "--anchor", anchor, "--key-file", secret)
    assert (shown.code, shown.out.splitlines()[-1]) == (
        0,
        "the store goes on from the anchor of commit 12; its signature is by this key",
    )
    shown = run("verify", "--anchor", anchor)
    assert " ".join(shown.out.split()).endswith("; its signature was not checked, for want of --key-file")


@proves("cli.anchor")
def test_a_signature_by_a_private_key_is_checked_by_the_public_one(
    store: Path, run: Run, tmp_path: Path, pair: Sequence[str]
) -> None:
    private, public = pair
    anchor = kept(run, tmp_path / "anchor.json", "--key-file", private)
    assert run("verify", "--since", anchor, "--key-file", public).code == 0
    assert run("anchor", "--key-file", public).code == 2


@proves("cli.anchor", "bridge.forged-anchors")
@pytest.mark.parametrize("option", ["--anchor", "--since"])
def test_what_an_anchor_with_a_forged_signature_says_is_not_used(
    store: Path, run: Run, tmp_path: Path, secret: str, option: str
) -> None:
    anchor = Path(kept(run, tmp_path / "anchor.json", "--key-file", secret))
    anchor.write_text(json.dumps(json.loads(anchor.read_text()) | {"sequence": 99}))
    found = run("verify", option, str(anchor), "--key-file", secret, "--json")
    assert found.code == 1
    assert [each["code"] for each in found.document["findings"]] == ["anchor"]
    assert "signature is not one by this key" in found.document["findings"][0]["message"]
    assert found.document["checkedFrom"] == 1


@proves("cli.anchor", "cli.wrong-use")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("verify", "--anchor", "missing"), "--anchor cannot be read: No such file or directory"),
        (("verify", "--since", "."), "--since cannot be read: Is a directory"),
        (("verify", "--anchor", "junk"), "--anchor is no anchor"),
        (("verify", "--anchor", "binary"), "--anchor is no anchor: it is no text in UTF-8"),
        (("verify", "--key-file", "junk"), "--key-file has 4 bytes"),
        (("anchor", "--key-file", "junk"), "--key-file has 4 bytes; a secret has at least 16"),
        (("anchor", "--key-file", "missing"), "--key-file cannot be read"),
        (("verify", "--key-file", "long"), "--key-file is for an anchor's signature; give --anchor or"),
    ],
)
def test_a_file_that_will_not_do_is_named_in_one_line(
    store: Path, run: Run, arguments: Sequence[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store.parent)
    for name, content in (("junk", b"junk"), ("binary", b"\xff" * 20), ("long", b"x" * 20)):
        Path(name).write_bytes(content)
        Path(name).chmod(0o600)
    ran = run(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"invalid_argument: {said}")


class Stream(StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@proves("cli.progress")
def test_a_bar_is_drawn_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, pipe = Stream(terminal=True), Stream(terminal=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    with bar("verifying") as progress:
        assert progress is not None
        progress(1, 2)
    assert "verifying" in terminal.getvalue()
    for elsewhere in (pipe, None):
        monkeypatch.setattr(sys, "stderr", elsewhere)
        with bar("verifying") as progress:
            assert progress is None
    assert pipe.getvalue() == ""


@proves("cli.progress")
def test_verify_says_nothing_else_where_there_is_a_bar(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = run("verify").out
    monkeypatch.setattr(sys, "stderr", Stream(terminal=True))
    assert run("verify").out == plain


@proves("cli.anchor")
def test_an_anchor_that_is_given_twice_is_told_of_once(store: Path, run: Run, tmp_path: Path) -> None:
    anchor = kept(run, tmp_path / "anchor.json")
    write(store)
    shown = run("verify", "--anchor", anchor, "--since", anchor)
    assert shown.out.count("the store goes on from the anchor of commit 12") == 1


@proves("cli.anchor", "cli.wrong-use")
def test_a_key_of_another_kind_than_the_signature_is_a_slip_and_no_finding(
    store: Path, run: Run, tmp_path: Path, secret: str, pair: Sequence[str]
) -> None:
    by_pair = kept(run, tmp_path / "pair.json", "--key-file", pair[0])
    by_secret = kept(run, tmp_path / "secret.json", "--key-file", secret)
    for anchor, key in ((by_pair, secret), (by_secret, pair[1])):
        for option in ("--anchor", "--since"):
            ran = run("verify", option, anchor, "--key-file", key)
            assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
            assert "give the key that belongs to that signature" in ran.err


@proves("cli.anchor")
@pytest.mark.skipif(sys.platform == "win32", reason="there are no modes")
def test_a_key_file_that_others_can_read_is_warned_of_unless_it_is_for_them(
    store: Path, run: Run, tmp_path: Path, secret: str, pair: Sequence[str]
) -> None:
    private, public = pair
    anchor = kept(run, tmp_path / "anchor.json", "--key-file", private)
    for path in (secret, private, public):
        Path(path).chmod(0o644)
    for path in (secret, private):
        ran = run("anchor", "--key-file", path)
        assert (ran.code, ran.err.count("\n")) == (0, 1)
        assert (
            ran.err == f"warning: {path} can be read by other users (mode 644); chmod 600 keeps it private\n"
        )
    assert run("verify", "--anchor", anchor, "--key-file", public).err == ""
