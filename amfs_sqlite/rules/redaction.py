"""Secrets in what is to be stored: known by their form, and put out of the way before anybody has them."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

_MARK = re.compile(r"\[redacted:[a-z-]+\]")


class Pattern(NamedTuple):
    """A kind of secret, and its form. Where the form has a group ``secret``, only that part goes."""

    name: str
    form: re.Pattern[str]


class Redacted(NamedTuple):
    """A value without its secrets, and how many of each pattern were in it."""

    value: Any
    counts: Mapping[str, int]


def redact(value: Any) -> Redacted:
    """The value with every secret of a known form replaced by ``[redacted:<name of the pattern>]``.

    Texts are looked at wherever they stand in a JSON value, the names of members too; a text that
    stands under a name like ``password`` or ``api_key`` goes whole. What was redacted is left as it
    is the second time. A secret of no known form is not found. The value may be as deep as one that
    is stored.
    """
    counts: Counter[str] = Counter()
    return Redacted(_without(value, counts), dict(counts))


def secrets_in(text: str) -> list[str]:
    """The names of the patterns that a text has secrets of, in alphabetical order.

    >>> secrets_in("ticket-7"), secrets_in("AKIAIOSFODNN7EXAMPLE")
    ([], ['aws-access-key'])
    """
    return sorted(redact(text).counts)


def _without(value: Any, counts: Counter[str]) -> Any:
    """Only what the limits of values allow comes this deep: see ``rules.values``.

    >>> _without(["postgres://app:hunter2@db/main", {"api_key": "x"}], Counter())
    ['postgres://app:[redacted:url-password]@db/main', {'api_key': '[redacted:secret-member]'}]
    >>> _without("commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", Counter())
    'commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b'
    """
    if isinstance(value, str):
        return _text(value, counts)
    if isinstance(value, dict):
        return _members(value, counts)
    if isinstance(value, list | tuple):
        return [_without(item, counts) for item in value]
    return value


def _members(value: dict[Any, Any], counts: Counter[str]) -> dict[Any, Any]:
    kept: dict[Any, Any] = {}
    for name, member in value.items():
        without = _without(member, counts)
        if isinstance(without, str) and _names_a_secret(name) and without and not _MARK.search(without):
            counts[SECRET_MEMBER] += 1
            without = f"[redacted:{SECRET_MEMBER}]"
        kept[_free(_without(name, counts), kept)] = without
    return kept


def _free(name: Any, taken: Mapping[Any, Any]) -> Any:
    """Two names may have become the same; neither member may go for it."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}#{number}"
    return free


def _names_a_secret(name: Any) -> bool:
    return isinstance(name, str) and re.sub(r"[^a-z]", "", name.casefold()) in SECRET_NAMES


def _text(text: str, counts: Counter[str]) -> str:
    for name, form in PATTERNS:
        is_part = "secret" in form.groupindex

        def replaced(found: re.Match[str], name: str = name, is_part: bool = is_part) -> str:
            counts[name] += 1
            mark = f"[redacted:{name}]"
            if not is_part:
                return mark
            whole, start = found[0], found.start()
            return f"{whole[: found.start('secret') - start]}{mark}{whole[found.end('secret') - start :]}"

        text = form.sub(replaced, text)
    return text


SECRET_MEMBER = "secret-member"  # noqa: S105 - the name of a pattern
SECRET_NAMES = frozenset(
    {
        "accesstoken",
        "apikey",
        "apisecret",
        "authtoken",
        "authorization",
        "clientsecret",
        "passphrase",
        "passwd",
        "password",
        "privatekey",
        "refreshtoken",
        "secret",
        "secretaccesskey",
        "secretkey",
    }
)
"""Of members, in lower case and without what is no letter."""

# The last line of a private key ends a word as well: it will not be there any more.
_START = r"(?<![A-Za-z0-9_])(?<!(?<!----)-)"
_END = r"(?![A-Za-z0-9])"

# What a secret that is set somewhere may hold: what ends it in YAML, a shell, an address or code is left out.
_SET = r"[^\s;&,\"'`()<>\[\]{}$]"
_NAME = (
    r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))(?i:password|passwd|passphrase|pwd|secret"
    r"|(?:api|secret|access|auth|private|signing|encryption|account|session)[_-]?key"
    # A number behind this name counts tokens.
    r"|token(?![\"' \t:=]{0,10}[0-9][0-9.,_:-]*+(?![A-Za-z0-9])))"
)
_DIGIT_AHEAD = rf"(?={_SET}{{0,64}}[0-9])"
# Letters of both cases, but for the name of a type, a function or a variable.
_CASES_AHEAD = (
    r"(?![A-Za-z][a-z]*+(?:[._]?(?:[A-Z]{2,}+|[A-Z]?[a-z]{2,}+))*+(?![A-Za-z0-9_.+/=-]))"
    rf"(?=[^a-z{_SET[2:]}{{0,64}}[a-z])(?=[^A-Z{_SET[2:]}{{0,64}}[A-Z])"
)
_ELSEWHERE = r"(?![=/~.*%:]|(?:self|this|os|env|process|config|settings)\.|[A-Za-z]{1,20}://)"

# Every form begins with fixed text and repeats nothing within a repetition: looking through a text takes
# time in proportion to its length, whatever it holds. The narrower forms stand first; a key that is cut
# short would take with it the beginning of what stands below it.
_FORMS = {
    "jwt": _START + r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{10,}",
    "aws-access-key": _START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + _END,
    "aws-secret-key": r"(?i:aws_?secret_?(?:access_?)?key)[\"']?\s{0,4}[=:]\s{0,4}[\"']?"
    r"(?P<secret>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])",
    "github-token": _START + r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})" + _END,
    "gitlab-token": _START + r"gl(?:pat|rt|dt|ptt)-[A-Za-z0-9_.-]{20,}",
    "slack-token": _START + r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}",
    "slack-webhook": r"(?P<secret>hooks\.slack\.com/services/[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]{16,})",
    "google-api-key": _START + r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
    "google-oauth-secret": _START + r"(?:GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})",
    "stripe-key": _START + r"(?:(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{24,})",
    "anthropic-key": _START + r"sk-ant-[A-Za-z0-9_-]{20,}",
    "openai-key": _START
    + r"sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}+|or-v1-[a-f0-9]{32,}+|[A-Za-z0-9]{32,}+)"
    + _END,
    "huggingface-token": _START + r"hf_[A-Za-z0-9]{30,}" + _END,
    "npm-token": _START + r"npm_[A-Za-z0-9]{36}" + _END,
    "pypi-token": _START + r"pypi-Ag[A-Za-z0-9_-]{50,}",
    "sendgrid-key": _START + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,}",
    "digitalocean-token": _START + r"do[opr]_v1_[a-f0-9]{64}" + _END,
    "telegram-token": _START + r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,35}(?![A-Za-z0-9_-])",
    "azure-account-key": r"AccountKey=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})",
    "authorization-header": r"(?i:authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:basic|token))\s{1,4}"
    r"(?P<secret>[A-Za-z0-9._~+/-]{8,}=*)",
    "bearer-token": r"(?i:bearer)\s{1,4}(?P<secret>(?=[A-Za-z._~+/-]{0,256}[0-9])[A-Za-z0-9._~+/-]{16,}=*)",
    "url-password": r"://[^\s/:@\"'<>\[\]]{0,256}:(?P<secret>[^\s/@\"'<>\[\]]{1,1024})@",
    "password-setting": r"(?<![A-Za-z])(?i:password|passwd|pwd)="
    r"(?P<secret>[^\s;&,\"'()<>\[\]{}$]{4,}+)(?![(\[{])",
    "quoted-password": r"(?i:password|passwd|passphrase|secret|(?:api|secret|access|private)_?key)"
    r"[\"']\s{0,4}:\s{0,4}[\"'](?P<secret>(?!\[redacted:)[^\"'\\\n]{1,1024})[\"']",
    "secret-setting": _NAME
    + rf"(?:[\"']?[ \t]{{0,4}}:?[:=][ \t]{{0,4}}[\"']?(?:{_DIGIT_AHEAD}|{_CASES_AHEAD})"
    rf"|[ \t]{{0,4}}:?[:=][ \t]{{0,4}}[\"'](?={_SET}{{6,1024}}[\"']))"
    rf"{_ELSEWHERE}(?P<secret>{_SET}{{6,}}+)(?![(\[{{])",
    "private-key": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\sA-Za-z0-9+/=\\]{40,})",
}

PATTERNS: tuple[Pattern, ...] = tuple(Pattern(name, re.compile(form)) for name, form in _FORMS.items())
"""Every pattern, in the order in which they are looked for."""
