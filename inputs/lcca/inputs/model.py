"""The base class of every model that is read from a configuration file."""

from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError

_SCALARS = frozenset({"int", "float", "bool"})
_NO_SCHEMA = frozenset({"default", "expected", "metadata", "config", "cls", "serialization"})


def _strict_scalars(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(_strict_scalars(item) for item in schema)
    if not isinstance(schema, dict):
        return schema
    kind = schema.get("type")
    is_schema = isinstance(kind, str)  # else a table of fields, whose names may be anything
    skipped = _NO_SCHEMA if is_schema else frozenset[str]()
    strict = {key: value if key in skipped else _strict_scalars(value) for key, value in schema.items()}
    return {"strict": True} | strict if is_schema and kind in _SCALARS else strict


class Model(BaseModel):
    """A frozen, checked value: unknown keys, NaN and infinities are errors.

    Numbers and truth values are strict, so that `"3"` or `true` is no number; lists serve as tuples and text
    as enum values. Construction raises `pydantic.ValidationError`; `lcca.inputs.validation` turns it into
    errors with file and line.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Returns pydantic's schema with strict scalars; its strict mode would refuse lists for tuples."""
        schema: CoreSchema = _strict_scalars(handler(source))
        return schema


def problem_at(keys: tuple[str | int, ...], text: str, found: Any = None) -> InitErrorDetails:
    """Return one problem of a model's own check, at the keys below that model."""
    return InitErrorDetails(type=PydanticCustomError("value_error", "{error}", {"error": text}), loc=keys, input=found)


def raise_problems(title: str, problems: list[InitErrorDetails]) -> None:
    """Raise what a model's own check found, if anything; the keys of each problem reach the user.

    Raises:
        pydantic.ValidationError: if there are problems.
    """
    if problems:
        raise ValidationError.from_exception_data(title, problems)
