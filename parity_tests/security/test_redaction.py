"""Which secrets are known, what is left alone, and what becomes of a value."""

import hashlib
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amfs_sqlite.rules.redaction import redact, secrets_in
from parity_tests.ledger import proves
from parity_tests.security.secrets import EVERY, LETTERS, NAMES, SAMPLES, of

HARMLESS = [
    hashlib.sha1(b"a commit", usedforsecurity=False).hexdigest(),
    hashlib.sha256(b"a value").hexdigest(),
    f"sha256:{hashlib.sha256(b'a value').hexdigest()}",
    f"sha512-{of(LETTERS, 86)}==",
    "2f1c9d3e-8a47-4c1b-9d2e-0a1b2c3d4e5f",
    "h_1a2b3c4d",
    "listing/482/assessment@3",
    "https://example.com:8080/a:b@c?x=1",
    "https://user@example.com/",
    "mailto:alice@example.com",
    "ssh://git@github.com:22/owner/name.git",
    "postgres://app@db/main",
    "AKIA is how AWS begins its key ids",
    "the bearer of this letter-of-recommendation-is-known",
    "Bearer authentication is used",
    "sk-circle-bounce-loading-indicator-with-a-long-name",
    "task-ant-colony-optimisation-with-long-words",
    "password: ask the owner",
    "password=get_password(name)",
    "password=${DB_PASSWORD}",
    "the token: see below",
    "The secret: simplicity, and 12 hours of sleep",
    "password: SecretStr",
    "token: Optional[str] = None",
    "secret: refreshToken",
    "token: user_token",
    "secret: PostgreSQL",
    "token = next_token2(text)",
    "if token == abc123d:",
    "token = self.token2",
    "secret: os.environ['TOKEN_1']",
    "secret: /run/secrets/db1",
    "token: https://example.com/abc1",
    "api_key=OPENAI_API_KEY",
    "max_token=100000 and tokens: 150000",
    "token: 2026-01-01",
    "password_hash: bcrypt12",
    "secretary: Ann1234",
    "password: short",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PRIVATE KEY----- is the first line of such a file.",
    "eyJhbGciOi is how a token begins",
    "npm_config_registry and hf_hub_download and ghp_",
    "data:image/png;base64," + of(LETTERS, 400),
    "the secret of good memory is sleep",
    "1234567:AAB",
    "",
]

PIECES = st.sampled_from(
    [text for _, text, _ in EVERY] + HARMLESS + ["-", "_", "=", "x", " ", "\n", "@", "["]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=5).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS | st.sampled_from(["password", "API-Key", "secret"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@proves("redaction.patterns")
def test_every_pattern_has_samples_and_every_sample_a_pattern() -> None:
    assert list(SAMPLES) == NAMES
    assert all(SAMPLES.values())


@proves("redaction.patterns")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("around", ["{}", "see {} for it", '"{}"', "a\n{}\nb", "({})", "x={}"])
def test_a_secret_goes_wherever_it_stands_in_a_text(name: str, around: str) -> None:
    for text, secret in SAMPLES[name]:
        found = redact(around.format(text))
        assert secret not in found.value
        assert f"[redacted:{name}]" in found.value
        assert found.counts == {name: 1}


@proves("redaction.patterns")
def test_the_text_around_a_secret_stays_as_it_is() -> None:
    assert redact("postgres://app:hunter2@db:5432/main?x=1").value == (
        "postgres://app:[redacted:url-password]@db:5432/main?x=1"
    )
    token = f"ghp_{of(LETTERS, 36)}"
    assert redact(f"first {token}, then {token}.") == (
        "first [redacted:github-token], then [redacted:github-token].",
        {"github-token": 2},
    )


@proves("redaction.left-alone")
@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert redact(text) == (text, {})
    assert secrets_in(text) == []


@proves("redaction.values")
def test_a_value_is_looked_through_at_every_depth_and_keeps_its_shape() -> None:
    token, other = f"ghp_{of(LETTERS, 36)}", f"npm_{of(LETTERS, 36)}"
    found = redact({"a": [1, None, {"b": (token, True)}], token: 2.5, f"x {other}": "y"})
    assert found.value == {
        "a": [1, None, {"b": ["[redacted:github-token]", True]}],
        "[redacted:github-token]": 2.5,
        "x [redacted:npm-token]": "y",
    }
    assert found.counts == {"github-token": 2, "npm-token": 1}


@proves("redaction.values")
def test_two_names_that_become_the_same_are_both_kept() -> None:
    tokens = [f"ghp_{of(LETTERS, 36, step)}" for step in (3, 5, 11)]
    found = redact(dict(zip(tokens, range(3), strict=True)))
    assert list(found.value.items()) == [
        ("[redacted:github-token]", 0),
        ("[redacted:github-token]#2", 1),
        ("[redacted:github-token]#3", 2),
    ]


@proves("redaction.values")
@pytest.mark.parametrize("name", ["password", "API-Key", "client_secret", "accessToken", "Secret"])
def test_a_text_under_a_name_of_secrets_goes_whole(name: str) -> None:
    found = redact({name: "plain words", "kept": "plain words", f"{name} hint": "plain words"})
    assert found.value == {
        name: "[redacted:secret-member]",
        "kept": "plain words",
        f"{name} hint": "plain words",
    }
    assert found.counts == {"secret-member": 1}
    assert redact({name: True, "n": {name: ""}}).counts == {}


@proves("redaction.idempotent")
@settings(deadline=None)
@given(VALUES)
@example(SAMPLES["private-key"][0][0] + SAMPLES["jwt"][0][0])
def test_what_was_redacted_is_left_as_it_is(value: Any) -> None:
    once = redact(value)
    assert redact(once.value) == (once.value, {})


@proves("redaction.linear")
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "://",
        "://a:",
        "bearer ",
        "password=",
        "aws_secret_key = ",
        "eyJa",
        "eyJaaaaaaaaa.eyJaaaaaaaaa.",
        "sk-",
        "SG.",
        'password": "',
        "\n",
        "12345678:AA",
        "token=",
        "password: ",
        "secret='",
        "passwordA",
        "token: 1",
        "token=Aa_",
    ],
)
def test_a_text_made_to_be_slow_is_not(piece: str) -> None:
    # So much ends within the time that a test has only where the way is straight.
    text = piece * (300_000 // len(piece))
    assert len(redact(text).value) > 0
