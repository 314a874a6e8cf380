"""Secrets kept out of the store, where a session is to: texts lose them, names with one are refused."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.rules.redaction import redact, secrets_in
from bridge.session import Session


class Redactor:
    """What one call does about secrets: nothing where its session redacts none.

    ``counts`` is how many were taken out so far, by the name of their pattern.
    """

    def __init__(self, session: Session) -> None:
        self._is_on = session.redact_secrets
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of each pattern, in alphabetical order."""
        return dict(sorted(self._counts.items()))

    def value(self, value: Any) -> Any:
        """The value without its secrets. It must be one that may be stored."""
        if not self._is_on:
            return value
        redacted = redact(value)
        self._counts.update(redacted.counts)
        return redacted.value

    def text(self, text: str) -> str:
        """The text without its secrets."""
        found: str = self.value(text)
        return found

    def texts(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Each of the texts without its secrets."""
        return tuple(self.text(each) for each in texts)

    def check_names(self, **names: str | None) -> None:
        """Refuse a name that holds a secret: with another in its place nobody would find what it names."""
        if not self._is_on:
            return
        for argument, name in names.items():
            if name is not None and (found := secrets_in(name)):
                raise InvalidArgumentError(
                    argument,
                    f"holds what looks like a secret ({', '.join(found)}), and secrets are not stored"
                    " here; choose another name",
                )
