"""Signatures by Ed25519, with the library that the extra ``signing`` installs."""

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm)


class NoKeyError(ValueError):
    """What was given is no key of Ed25519 that can do what is asked."""


def sign(message: bytes, pem: bytes) -> bytes:
    """The signature of a message, 64 bytes. Raises NoKeyError for all but a private key without password."""
    try:
        key = load_pem_private_key(pem, password=None)
    except UNREADABLE as refused:
        raise NoKeyError("is not a private key in PEM, without password") from refused
    if not isinstance(key, Ed25519PrivateKey):
        raise NoKeyError("is a private key, but not Ed25519's")
    return key.sign(message)


def is_signed(message: bytes, signature: bytes, pem: bytes) -> bool:
    """Whether this is the key's signature of the message. Raises NoKeyError."""
    try:
        _public_key(pem).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def _public_key(pem: bytes) -> Ed25519PublicKey:
    try:
        if b"PRIVATE KEY" in pem:
            key = load_pem_private_key(pem, password=None).public_key()
        else:
            key = load_pem_public_key(pem)
    except UNREADABLE as refused:
        raise NoKeyError("is not a key in PEM, without password") from refused
    if not isinstance(key, Ed25519PublicKey):
        raise NoKeyError("is a key in PEM, but not Ed25519's")
    return key
