"""The arguments of the tools: what clients are told about them, and what is said of a wrong one."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from amfs_sqlite.errors import InvalidArgumentError
from bridge import rendering

PROBLEMS_SAID = 5
QUOTED_BYTES = 60

_ARGUMENT_NAMES = {"entity_path": "scope", "outcome_type": "outcome"}


class Arguments(BaseModel):
    """The arguments of one tool: exact types, and no others than its own.

    ``wanted`` says what an argument must be where its type does not say enough.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    wanted: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> Self:
        """The arguments; null for one that has a default is that it was left out.

        Raises InvalidArgumentError naming what is wrong with each wrong one.
        """
        try:
            return cls.model_validate(
                {name: value for name, value in given.items() if cls._is_given(name, value)}
            )
        except ValidationError as refused:
            found = refused.errors(include_url=False)
            problems = [cls._problem(each) for each in found]
        argument, problem = problems[0]
        more = [" ".join(each) for each in problems[1:PROBLEMS_SAID]]
        if len(problems) > PROBLEMS_SAID:
            more.append(f"and {len(problems) - PROBLEMS_SAID} more")
        if any(each["type"] == "extra_forbidden" for each in found):
            more.append(f"it takes {', '.join(cls.model_fields)}")
        raise InvalidArgumentError(argument, "; ".join([problem, *more]))

    @classmethod
    def _is_given(cls, name: str, value: Any) -> bool:
        field = cls.model_fields.get(name)
        return value is not None or field is None or field.is_required()

    @classmethod
    def _problem(cls, error: ErrorDetails) -> tuple[str, str]:
        """The argument that an error is about, and what is wrong with it."""
        name, *inside = map(str, error["loc"])
        if error["type"] == "extra_forbidden":
            return rendering.word(name, QUOTED_BYTES), "is no argument of this tool"
        schema = cls.input_schema()["properties"][name]
        wanted = cls.wanted.get(name) or _wanted(schema)
        if error["type"] == "missing":
            return name, f"is missing; give {wanted}"
        if error["input"] is None and not inside:
            return name, f"is null, and it is required; give {wanted}"
        if inside:
            wanted = _wanted(schema["items"])
            name = f"{name}[{inside[0]}]"
        if error["type"] == "string_unicode":
            return name, "has a lone surrogate; send well-formed text"
        return name, f"is {_shown(error['input'])}; it must be {wanted}"

    @classmethod
    def input_schema(cls) -> dict[str, Any]:
        """The JSON schema, without what only costs its reader: titles, and our own docstring."""
        schema = cls.model_json_schema()
        properties = {
            name: {word: said for word, said in each.items() if word != "title"}
            for name, each in schema["properties"].items()
        }
        kept = {word: said for word, said in schema.items() if word not in ("title", "description")}
        return kept | {"properties": properties}


def _listed(given: Any) -> Any:
    """A JSON array as a tuple; some clients send every array as the JSON text of it."""
    if isinstance(given, str):
        try:
            parsed = json.loads(given)
        except (ValueError, RecursionError):
            return given
        return tuple(parsed) if isinstance(parsed, list) else given
    return tuple(given) if isinstance(given, list) else given


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""A list of texts."""


def explained(error: InvalidArgumentError) -> str:
    """The message of the store, with the name that the argument has here."""
    return f"{_ARGUMENT_NAMES.get(error.argument, error.argument)} {error.problem}"


def _wanted(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    words = {
        "string": "text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "array": "a list of texts",
    }
    least, most = schema.get("minimum"), schema.get("maximum")
    bounds = "" if least is None else f" from {least}" + ("" if most is None else f" to {most}")
    return words[schema["type"]] + bounds


def _shown(given: Any) -> str:
    if isinstance(given, dict):
        return "an object"
    if isinstance(given, list | tuple):
        return "a list"
    if isinstance(given, str):
        return rendering.Value(given).whole(QUOTED_BYTES) or f"a text of {len(given)} characters"
    if isinstance(given, int) and abs(given) >= 10**QUOTED_BYTES:
        return "a number beyond all bounds"
    return json.dumps(given)
