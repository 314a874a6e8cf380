"""Anchors: what a store came to, written down to be kept elsewhere, signed, and held against a store."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field, ValidationError

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.modelling import Model, PartModel
from amfs_sqlite.models import Instant
from amfs_sqlite.rules.hashing import canonical_json

MIN_SECRET_BYTES = 16
MAX_ANCHOR_CHARACTERS = 10_000
FORMAT_VERSION = 1

SignatureAlgorithm = Literal["hmac-sha256", "ed25519"]
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
Digest = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
SignatureValue = Annotated[str, Field(pattern=r"^([0-9a-f]{64}|[0-9a-f]{128})$")]

HMAC_SHA256: SignatureAlgorithm = "hmac-sha256"
ED25519: SignatureAlgorithm = "ed25519"
PEM_BEGINS = b"-----BEGIN "
EXTRA = "signing"


class AnchorSignature(PartModel):
    """Who vouches for an anchor: the algorithm, and what it gave, in hex."""

    model_config = ConfigDict(extra="forbid")

    algorithm: SignatureAlgorithm
    value: SignatureValue


class Anchor(Model):
    """What a store came to at one moment, to be kept somewhere else.

    ``sequence`` and ``digest`` are those of the newest commit then, 0 and '' where there was none; the counts
    are of the whole store, whatever the namespace. ``signature`` covers everything else.
    """

    model_config = ConfigDict(extra="forbid")

    format_version: Literal[1] = 1
    store_id: str
    sequence: Count
    digest: Digest
    key_count: Count
    version_count: Count
    outcome_count: Count
    taken_at: Instant
    signature: AnchorSignature | None = None

    def to_wire(self) -> dict[str, Any]:
        """``signature`` where there is one."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Standing(NamedTuple):
    """What a store holds of an anchor's time.

    ``digest`` is that of the commit of the anchor's sequence, None where there is none; ``newest`` is the
    sequence of the newest commit. Counted is what belongs to commits up to the anchor's sequence.
    """

    store_id: str
    newest: int
    digest: str | None
    key_count: int
    version_count: int
    outcome_count: int

    def anchor(self, taken_at: datetime) -> Anchor:
        """The anchor of a store that stands like this, of its newest commit."""
        return Anchor(
            store_id=self.store_id,
            sequence=self.newest,
            digest=self.digest or "",
            key_count=self.key_count,
            version_count=self.version_count,
            outcome_count=self.outcome_count,
            taken_at=taken_at,
        )


def problems(anchor: Anchor, standing: Standing) -> Iterator[str]:
    """Why the store is not what the anchor was taken of, gone on since; nothing where it is.

    >>> then = Standing("s", 2, "ab" * 32, 1, 2, 0)
    >>> from amfs_sqlite.clock import instant
    >>> anchor = then.anchor(instant("2026-01-01"))
    >>> list(problems(anchor, then)), list(problems(anchor, then._replace(store_id="other")))
    ([], ["the anchor is of the store 's', and this is 'other'"])
    """
    if anchor.store_id != standing.store_id:
        yield f"the anchor is of the store {quoted(anchor.store_id)}, and this is {quoted(standing.store_id)}"
        return
    if standing.newest < anchor.sequence:
        yield (
            f"the newest commit is {standing.newest}, and the anchor knows commit {anchor.sequence}:"
            " what came between is gone, as in an older copy"
        )
        return
    if anchor.sequence and standing.digest is None:
        yield f"commit {anchor.sequence}, which the anchor was taken of, is missing"
    elif (standing.digest or "") != anchor.digest:
        yield f"commit {anchor.sequence} has another digest than the anchor: what stood before was rewritten"
    for noun, now, then in (
        ("keys", standing.key_count, anchor.key_count),
        ("versions", standing.version_count, anchor.version_count),
        ("outcomes", standing.outcome_count, anchor.outcome_count),
    ):
        if now != then:
            yield f"up to commit {anchor.sequence} there are {now} {noun}, and the anchor counted {then}"


def text_of(anchor: Anchor) -> str:
    """An anchor as one line of JSON."""
    return canonical_json(anchor.to_wire())


def parsed(text: str, argument: str = "anchor") -> Anchor:
    """The anchor from its text. Raises InvalidArgumentError."""
    try:
        fields = json.loads(text[: MAX_ANCHOR_CHARACTERS + 1])
        known = {**fields}.get("formatVersion")
    except (ValueError, TypeError, RecursionError) as refused:
        raise InvalidArgumentError(
            argument, "is no anchor; give the JSON that 'amfs-sqlite anchor' printed"
        ) from refused
    if isinstance(known, int) and known > FORMAT_VERSION:
        raise InvalidArgumentError(
            argument,
            f"has format {known}, newer than {FORMAT_VERSION}, the newest known here; update amfs-sqlite",
        )
    try:
        return Anchor.from_wire(fields)
    except ValidationError as refused:
        first = refused.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "it"
        raise InvalidArgumentError(argument, f"is no anchor: {quoted(place)}: {first['msg']}") from refused


def check_anchor(given: object, argument: str) -> None:
    """Refuse what is neither an anchor nor None. Raises InvalidArgumentError."""
    if given is not None and not isinstance(given, Anchor):
        raise InvalidArgumentError(argument, f"is {quoted(given)}; it must be an Anchor")


def check_key(key: bytes, argument: str = "key") -> None:
    """Refuse what is no key, or a secret that is short enough to be guessed. Raises InvalidArgumentError."""
    if not isinstance(key, bytes):
        raise InvalidArgumentError(argument, f"is a {type(key).__name__}; give its bytes")
    if len(key) < MIN_SECRET_BYTES:
        raise InvalidArgumentError(
            argument, f"has {len(key)} bytes; a secret has at least {MIN_SECRET_BYTES}, drawn by chance"
        )


def algorithm_of(key: bytes) -> SignatureAlgorithm:
    """By which algorithm a key signs and checks."""
    return ED25519 if key.startswith(PEM_BEGINS) else HMAC_SHA256


def check_kind(anchor: Anchor | None, key: bytes, argument: str = "key") -> None:
    """Refuse a key of another kind than the anchor's signature. Raises InvalidArgumentError."""
    if anchor is None or anchor.signature is None or anchor.signature.algorithm == algorithm_of(key):
        return
    raise InvalidArgumentError(
        argument,
        f"is one of {algorithm_of(key)}, and the anchor is signed by {anchor.signature.algorithm};"
        " give the key that belongs to that signature",
    )


def signed(anchor: Anchor, key: bytes, argument: str = "key") -> Anchor:
    """The anchor with a signature: by HMAC-SHA256 with any secret, byte for byte, or by Ed25519 with a
    private key in PEM. Raises InvalidArgumentError, without ``cryptography`` for every key in PEM.
    """
    check_key(key, argument)
    if algorithm_of(key) == ED25519:
        with _ed25519(argument) as ed25519:
            algorithm, value = ED25519, ed25519.sign(_covered(anchor), key)
    else:
        algorithm, value = HMAC_SHA256, _mac(anchor, key)
    return anchor.copied(signature=AnchorSignature(algorithm=algorithm, value=value.hex()))


def signature_problem(anchor: Anchor, key: bytes, argument: str = "key") -> str | None:
    """Why the anchor is not what the owner of this key signed; None where it is.

    The key is the secret of HMAC-SHA256, or Ed25519's public or private key in PEM. Which algorithm counts
    is decided by the key, never by the anchor. Raises as ``signed``.
    """
    check_key(key, argument)
    if anchor.signature is None:
        return "the anchor is not signed"
    algorithm = algorithm_of(key)
    if anchor.signature.algorithm != algorithm:
        return f"the anchor is signed by {anchor.signature.algorithm}, and the key is one of {algorithm}"
    if algorithm == ED25519:
        with _ed25519(argument) as ed25519:
            holds = ed25519.is_signed(_covered(anchor), bytes.fromhex(anchor.signature.value), key)
    else:
        holds = hmac.compare_digest(_mac(anchor, key).hex(), anchor.signature.value)
    return None if holds else "the anchor's signature is not one by this key: it was changed or forged"


def _covered(anchor: Anchor) -> bytes:
    """What is signed: all but the signature, as canonical JSON."""
    return text_of(anchor.copied(signature=None)).encode()


def _mac(anchor: Anchor, key: bytes) -> bytes:
    return hmac.new(key, _covered(anchor), hashlib.sha256).digest()


class _Ed25519(NamedTuple):
    """What the optional library does."""

    sign: Callable[[bytes, bytes], bytes]
    is_signed: Callable[[bytes, bytes, bytes], bool]


@contextmanager
def _ed25519(argument: str) -> Iterator[_Ed25519]:
    try:
        from amfs_sqlite.rules import ed25519  # noqa: PLC0415 - the extra may be missing
    except ModuleNotFoundError as missing:
        raise InvalidArgumentError(
            argument, f"is a key in PEM, which takes the extra '{EXTRA}': install amfs-sqlite[{EXTRA}]"
        ) from missing
    try:
        yield _Ed25519(ed25519.sign, ed25519.is_signed)
    except ed25519.NoKeyError as refused:
        raise InvalidArgumentError(
            argument, f"{refused}; give Ed25519's key in PEM, or a secret of any {MIN_SECRET_BYTES} bytes"
        ) from refused
