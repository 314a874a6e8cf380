"""What all models have in common: strict types, names on the wire, and copies that check or do not check."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """Frozen; takes snake_case and camelCase names; types are not coerced."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        defer_build=True,
    )

    # Shared by all that ``whole`` makes, since nothing changes it: a set for each would keep the garbage
    # collector busy.
    _field_names: ClassVar[set[str]]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls._field_names = set(cls.model_fields)

    def to_wire(self) -> dict[str, Any]:
        """The wire form: AMFS's names, JSON types only."""
        return self.model_dump(mode="json", by_alias=True)

    @classmethod
    def from_wire(cls, fields: Mapping[str, Any]) -> Self:
        """The model from its wire form."""
        return cls.model_validate(dict(fields))

    @classmethod
    def whole(cls, fields: dict[str, Any], extra: dict[str, Any] | None = None) -> Self:
        """The model of all its fields, each known to be of its type: nothing is checked.

        Checking what the store has checked before would take most of the time that reading takes.
        """
        model = cls.__new__(cls)
        object.__setattr__(model, "__dict__", fields)
        object.__setattr__(model, "__pydantic_fields_set__", cls._field_names)
        object.__setattr__(model, "__pydantic_extra__", extra)
        object.__setattr__(model, "__pydantic_private__", None)
        return model

    def copied(self, **changes: Any) -> Self:
        """A copy with these changes, known to be of their types; otherwise as ``model_copy``."""
        return self.whole(self.__dict__ | changes, self.__pydantic_extra__)

    def revalidated(self, **changes: Any) -> Self:
        """The same with these changes, checked anew: ``model_copy`` takes anything.

        Raises pydantic's ValidationError.
        """
        return type(self).model_validate(self.__dict__ | (self.model_extra or {}) | changes)


class PartModel(Model):
    """A model within others, checked anew with them."""

    model_config = ConfigDict(revalidate_instances="always")


class OpenModel(Model):
    """A model that keeps unknown fields. Raises where one field comes under both of its names."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _each_field_once(self) -> Self:
        for name in self.model_extra or {}:
            if name in type(self).model_fields:
                raise ValueError(f"{name} and {to_camel(name)} are both given")
        return self
