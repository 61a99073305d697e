"""The base class of every model that is read from a configuration file."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from lcca.inputs.units import TARGETS, Problems, unit_of_key, with_keyed_numbers, with_plain_numbers

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


def _accept_units(schema: Any, model: type["Model"]) -> None:
    """Let the fields that count in a unit take quantities."""
    while schema["type"] != "model-fields":
        schema = schema["schema"]
    for name, each in schema["fields"].items():
        if model.unit_of(name, {}) is not None:
            holder = each["schema"] if each["schema"]["type"] == "default" else each
            inner = holder["schema"]
            holder["schema"] = core_schema.with_info_before_validator_function(
                _reader(model, name), inner, json_schema_input_schema=_or_text(inner)
            )


def _reader(model: type["Model"], name: str) -> Callable[[Any, core_schema.ValidationInfo], Any]:
    """Return what makes plain numbers of the quantities in a field."""

    def plain(value: Any, info: core_schema.ValidationInfo) -> Any:
        if not isinstance(value, str | dict | list):
            return value
        unit = model.unit_of(name, info.data)
        assert unit is not None
        problems: Problems = {}
        found = with_plain_numbers(value, TARGETS[unit], model.packet_size(info.data), problems)
        raise_problems(model.__name__, [problem_at(keys, text, value) for keys, text in problems.items()])
        return found

    return plain


def _or_text(schema: Any) -> CoreSchema:
    """Return what editors check: the plain values, text, and for lists any list."""
    inner = schema
    while inner["type"].startswith("function-"):
        inner = inner["schema"]
    any_list = [core_schema.list_schema()] if inner["type"] in ("list", "tuple") else []
    return core_schema.union_schema([schema, core_schema.str_schema(), *any_list])


class Model(BaseModel):
    """A frozen, checked value: unknown keys, NaN and infinities are errors.

    Numbers and truth values are strict, so that `"3"` or `true` is no number; lists serve as tuples and text
    as enum values. Construction raises `pydantic.ValidationError`; `lcca.inputs.validation` turns it into
    errors with file and line.

    A key whose name ends in its unit (`delay_us`, `buffer_bytes`) takes quantities such as `12 us` too, and becomes a
    plain number. What counts packets needs `packet_bytes` for sizes and rates: a field that is declared before it.

    Attributes:
        units: of further keys, by name, in the words of `lcca.inputs.units.TARGETS`.
        from_file: whether a text in its place names a file with it.
        text_key: the key that a text in its place gives.
    """

    units: ClassVar[Mapping[str, str]] = {}
    from_file: ClassVar[bool] = False
    text_key: ClassVar[str] = ""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Returns pydantic's schema with units and strict scalars; its strict mode would refuse lists for tuples."""
        schema: CoreSchema = _strict_scalars(handler(source))
        _accept_units(schema, cls)
        return schema

    @classmethod
    def unit_of(cls, name: str, data: Mapping[str, Any]) -> str | None:
        """Return what a key counts in, given the values of those before it; None if it takes no quantities."""
        return cls.units.get(name) or unit_of_key(name)

    @classmethod
    def packet_size(cls, data: Mapping[str, Any]) -> float | None:
        """Return the bytes of a packet that sizes and rates become packets by, given the values before; if known."""
        found: float | None = data.get("packet_bytes")
        return found


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


def keyed_numbers(value: Any) -> Any:
    """Return values by keys that a model does not know beforehand, quantities of those that end in a unit as numbers.

    Raises:
        pydantic.ValidationError: with every quantity that has no such unit.
    """
    if not isinstance(value, dict):
        return value
    problems: Problems = {}
    found = with_keyed_numbers(value, problems)
    raise_problems("values", [problem_at(keys, text, value) for keys, text in problems.items()])
    return found
