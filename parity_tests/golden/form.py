"""The form of a recording: what a file and its steps hold."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from amfs_sqlite.errors import quoted
from parity_tests.golden.comparison import moment
from parity_tests.golden.transcript import TranscriptError

_OPERATION = re.compile(r"[A-Za-z]\w*", re.ASCII)
_PLACE = re.compile(r"\$(\.[^.\[]+|\[\d+\])*")
_VERSION = re.compile(r"0\.3(\D.*)?", re.DOTALL)


def _is_of_this_sdk(version: str) -> str:
    if not _VERSION.fullmatch(version):
        raise ValueError("the ledger of deviations is about AMFS 0.3")
    return version


def _is_instant(spelling: str) -> str:
    if moment(spelling) is None:
        raise ValueError("it must be an instant, like 2026-03-01T12:00:00.000Z")
    return spelling


def _is_name(text: str) -> str:
    if not text or "." in text:
        raise ValueError("it must be a name without a dot")
    return text


def _is_operation(text: str) -> str:
    if not _OPERATION.fullmatch(text):
        raise ValueError("it must be the name of a method or a property")
    return text


def _is_place(text: str) -> str:
    if not _PLACE.fullmatch(text):
        raise ValueError("it must be a place like $[0].confidence")
    return text


Version = Annotated[str, AfterValidator(_is_of_this_sdk)]
Instant = Annotated[str, AfterValidator(_is_instant)]
Name = Annotated[str, AfterValidator(_is_name)]
Operation = Annotated[str, AfterValidator(_is_operation)]
Place = Annotated[str, AfterValidator(_is_place)]
Named = dict[str, Any]
FormOf = TypeVar("FormOf", bound="Form")


WANTED = {
    "model_type": "it must be an object",
    "dict_type": "it must be an object",
    "list_type": "it must be a list",
    "string_type": "it must be a text",
    "float_type": "it must be a number",
    "int_type": "it must be a whole number",
    "bool_type": "it must be true or false",
    "too_short": "it must not be empty",
}
"""What is wanted, by what pydantic calls it when it is not."""


class Form(BaseModel):
    """Members by the SDK's names, to the letter of their types; further ones are allowed, and can be told."""

    model_config = ConfigDict(strict=True, extra="allow", alias_generator=to_camel)


class File(Form):
    """A file."""

    name: str
    description: str
    kind: str
    sdk_version: Version
    clock_start: Instant
    js_quirks: bool = False
    steps: list[Any] = Field(min_length=1)


class Unsaid(Form):
    """A place in a result that JSON cannot show."""

    path: Place
    js: Literal["NaN", "Infinity", "-Infinity", "-0", "undefined"]


class StepForm(Form):
    """A step."""

    n: int
    on: str
    op: Operation
    args: Named
    made: Name | None = Field(None, alias="as")
    result: Any = None
    error: str | None = None
    error_type: str | None = None
    note: str | None = None
    result_is_undefined: bool = False
    non_json: list[Unsaid] = Field(default_factory=list)


def strays(filled: Form) -> Sequence[str]:
    """The members that a form does not have."""
    return [*(filled.model_extra or ())]


def filled(wanted: type[FormOf], content: Any) -> FormOf:
    """A form with this content. Raises TranscriptError: where, what stands there, what is wrong with it."""
    try:
        return wanted.model_validate(content)
    except ValidationError as invalid:
        raise TranscriptError(_told(invalid)) from invalid


def _told(invalid: ValidationError) -> str:
    first = invalid.errors(include_url=False)[0]
    parts = [part for part in first["loc"] if part not in ("str", "int")]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")
    if first["type"] == "missing":
        return f"{place} is missing"
    wrong = WANTED.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    return f"{place or 'it'} is {quoted(first['input'])}: {wrong[:1].lower()}{wrong[1:]}"
