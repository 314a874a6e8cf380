"""Anchors as text, and who signed them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from amfs_sqlite import AmfsAdapter, Anchor, InvalidArgumentError
from amfs_sqlite.clock import instant
from amfs_sqlite.rules import anchors
from parity_tests.drafts import draft
from parity_tests.ledger import proves

SECRET = b"a secret of more than sixteen bytes\n"
OTHER = b"another secret of some thirty bytes"
ANCHOR = Anchor(
    store_id="5" * 32,
    sequence=18,
    digest="ab" * 32,
    key_count=3,
    version_count=20,
    outcome_count=1,
    taken_at=instant("2026-01-01"),
)
EDITS: dict[str, Any] = {
    "store_id": "6" * 32,
    "sequence": 17,
    "digest": "cd" * 32,
    "key_count": 2,
    "version_count": 19,
    "outcome_count": 0,
    "taken_at": instant("2026-01-02"),
}


def pem(key: Any, *, public: bool = False) -> bytes:
    if public:
        spki = serialization.PublicFormat.SubjectPublicKeyInfo
        return bytes(key.public_key().public_bytes(serialization.Encoding.PEM, spki))
    plain, pkcs8 = serialization.NoEncryption(), serialization.PrivateFormat.PKCS8
    return bytes(key.private_bytes(serialization.Encoding.PEM, pkcs8, plain))


ED25519 = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
KEYS = {"secret": (SECRET, SECRET), "ed25519": (pem(ED25519), pem(ED25519, public=True))}
STRANGERS = {
    "secret": OTHER,
    "ed25519": pem(Ed25519PrivateKey.from_private_bytes(bytes(32)), public=True),
}


@proves("ours.anchor-text")
def test_an_anchor_is_one_short_line_of_json_that_comes_back_as_it_was() -> None:
    for each in (ANCHOR, anchors.signed(ANCHOR, SECRET)):
        text = anchors.text_of(each)
        assert anchors.parsed(f"{text}\n") == each
        assert "\n" not in text
        assert text.isascii()
        assert len(text) < 400
    assert set(json.loads(anchors.text_of(ANCHOR))) == {
        *("formatVersion", "storeId", "sequence", "digest"),
        *("keyCount", "versionCount", "outcomeCount", "takenAt"),
    }


@proves("ours.anchor-text")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no anchor; give the JSON"),
        ("{", "is no anchor; give the JSON"),
        ("[1]", "is no anchor; give the JSON"),
        ("null", "is no anchor; give the JSON"),
        ("{}", "'storeId': Field required"),
        ('{"formatVersion": 2}', "has format 2, newer than 1"),
        ('{"formatVersion": 0}', "'formatVersion': Input should be 1"),
        ("[" * 100_000, "is no anchor; give the JSON"),
    ],
)
def test_what_is_no_anchor_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        anchors.parsed(text, "--anchor")
    assert said in str(refused.value)
    assert str(refused.value).startswith("--anchor ")
    assert "\n" not in str(refused.value)


@proves("ours.anchor-text")
@pytest.mark.parametrize(
    "fields",
    [
        {"sequence": -1},
        {"sequence": "18"},
        {"versionCount": 2**63},
        {"digest": "AB"},
        {"storeId": 5},
        {"takenAt": "yesterday"},
        {"unsigned": "extra"},
        {"signature": {"algorithm": "none", "value": "ab" * 32}},
        {"signature": {"algorithm": "hmac-sha256", "value": ""}},
        {"signature": {"algorithm": "hmac-sha256", "value": "ab" * 32, "by": "me"}},
    ],
    ids=str,
)
def test_an_anchor_with_anything_else_in_it_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match="is no anchor: '"):
        anchors.parsed(json.dumps(ANCHOR.to_wire() | fields))


@proves("ours.signed")
@pytest.mark.parametrize("kind", KEYS)
def test_a_signature_holds_by_its_key_alone_and_for_no_other_anchor(kind: str) -> None:
    signing, checking = KEYS[kind]
    signed = anchors.signed(ANCHOR, signing)
    for key in (signing, checking):
        assert anchors.signature_problem(signed, key) is None
        assert anchors.signature_problem(anchors.parsed(anchors.text_of(signed)), key) is None
    for name, value in EDITS.items():
        changed = signed.model_copy(update={name: value})
        assert anchors.signature_problem(changed, checking) == (
            "the anchor's signature is not one by this key: it was changed or forged"
        )
    assert anchors.signature_problem(signed, STRANGERS[kind]) is not None
    assert EDITS.keys() == Anchor.model_fields.keys() - {"format_version", "signature"}


@proves("ours.signed")
def test_the_same_secret_signs_alike() -> None:
    assert anchors.signed(ANCHOR, SECRET) == anchors.signed(ANCHOR, SECRET)


@proves("ours.signed")
def test_a_key_decides_by_which_algorithm_is_checked() -> None:
    public = KEYS["ed25519"][1]
    told = anchors.signature_problem(anchors.signed(ANCHOR, SECRET), public)
    assert told == "the anchor is signed by hmac-sha256, and the key is one of ed25519"
    told = anchors.signature_problem(anchors.signed(ANCHOR, KEYS["ed25519"][0]), SECRET)
    assert told == "the anchor is signed by ed25519, and the key is one of hmac-sha256"
    assert anchors.signature_problem(ANCHOR, SECRET) == "the anchor is not signed"


@proves("ours.signed")
def test_a_public_key_used_as_a_secret_signs_nothing_that_passes() -> None:
    public = KEYS["ed25519"][1]
    mac = anchors.signed(ANCHOR, b"-" + public).signature
    assert mac is not None
    for algorithm in ("ed25519", "hmac-sha256"):
        forged = ANCHOR.model_copy(update={"signature": mac.model_copy(update={"algorithm": algorithm})})
        assert anchors.signature_problem(forged, public) is not None


@proves("ours.signed")
@pytest.mark.parametrize(
    ("key", "said"),
    [
        (b"", "has 0 bytes; a secret has at least 16"),
        (b"short", "has 5 bytes"),
        (b"-----BEGIN PRIVATE KEY-----\nnothing\n-----END PRIVATE KEY-----\n", "is not a private key in PEM"),
        (pem(generate_private_key(SECP256R1())), "is a private key, but not Ed25519's"),
        (KEYS["ed25519"][1], "is not a private key in PEM"),
    ],
)
def test_a_key_that_cannot_sign_is_refused_in_one_line(key: bytes, said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^--key-file ") as refused:
        anchors.signed(ANCHOR, key, "--key-file")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@proves("ours.signed")
def test_a_key_of_another_kind_cannot_check() -> None:
    signed = anchors.signed(ANCHOR, KEYS["ed25519"][0])
    for key in (pem(generate_private_key(SECP256R1()), public=True), b"-----BEGIN PUBLIC KEY-----\nx"):
        with pytest.raises(InvalidArgumentError, match=r"give Ed25519's key in PEM, or a secret"):
            anchors.signature_problem(signed, key)


@proves("ours.signing-extra")
def test_without_the_extra_a_secret_still_signs_and_a_pem_key_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "amfs_sqlite.rules.ed25519", raising=False)
    monkeypatch.delattr("amfs_sqlite.rules.ed25519", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(InvalidArgumentError) as refused:
        anchors.signed(ANCHOR, KEYS["ed25519"][0])
    assert "install amfs-sqlite[signing]" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert anchors.signature_problem(anchors.signed(ANCHOR, SECRET), SECRET) is None


@proves("ours.signing-extra")
def test_the_module_that_needs_the_extra_is_imported_by_nobody_else() -> None:
    package = Path(anchors.__file__).parents[1]
    importing = [
        path.name for path in package.rglob("*.py") if "ed25519" in path.read_text(encoding="utf-8").lower()
    ]
    assert sorted(importing) == ["anchors.py", "ed25519.py"]


@proves("ours.anchors")
async def test_an_anchor_has_the_digest_of_the_newest_commit(adapter: AmfsAdapter) -> None:
    await adapter.write(draft())
    await adapter.write(draft(value=2))
    newest = (await adapter.list_commits(limit=1))[0]
    assert (await adapter.anchor()).digest == newest.digest
