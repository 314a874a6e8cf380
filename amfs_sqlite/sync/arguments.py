"""What the SDK's callers give with a call: its own models, and the namespace that it is about."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.rules.limits import check_finite, check_name, unacceptable
from amfs_sqlite.sqlite.transaction import Transaction

Theirs = TypeVar("Theirs", bound=BaseModel)


class Embedder(Protocol):
    """What makes an embedding of a text: an ``amfs_core.embedder.EmbedderABC``."""

    def embed(self, text: str) -> list[float]:
        """Its embedding."""
        ...


def checked(given: object, kind: type[Theirs], argument: str) -> Theirs:
    """A model of this kind, made again of its fields: the SDK looks at none that is set later.

    Raises InvalidArgumentError for anything else, and for a field that the model would not take.
    """
    if not isinstance(given, kind):
        raise InvalidArgumentError(argument, f"is {quoted(given)}; it must be an amfs_core {kind.__name__}")
    try:
        return type(given).model_validate(given.model_dump(warnings=False))
    except ValidationError as refused:
        raise unacceptable(refused) from refused


def check_embedder(embedder: object) -> None:
    """What makes embeddings, or None."""
    if embedder is not None and not callable(getattr(embedder, "embed", None)):
        raise InvalidArgumentError("embedder", f"is {quoted(embedder)}; it needs a method 'embed'")


def vector_of(embedder: Embedder, text: str) -> list[float]:
    """The embedding of a text. Raises InvalidArgumentError where the embedder answers no numbers."""
    check_embedder(embedder)
    answer = embedder.embed(text)
    try:
        numbers = [float(number) for number in answer]
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError("embedder", f"answers {quoted(answer)}; it must answer numbers") from error
    for number in numbers:
        check_finite(number, "embedder's answer")
    return numbers


def in_its_own(namespace: str, own: str) -> str:
    """The namespace that is meant: ``default`` is what the SDK passes where nobody named one, and stands for
    the adapter's own, so that what belongs together stays together. Raises InvalidArgumentError.

    >>> in_its_own("default", "team"), in_its_own("other", "team")
    ('team', 'other')
    """
    check_name(namespace, "namespace")
    return own if namespace == DEFAULT_NAMESPACE else namespace


@contextmanager
def under(tx: Transaction, namespace: str, branch: str | None = None) -> Iterator[None]:
    """For as long as this lasts the transaction is about the namespace that is meant, and this branch."""
    if branch is not None:
        check_name(branch, "branch")
    with tx.elsewhere(namespace=in_its_own(namespace, tx.namespace), branch=branch):
        yield
