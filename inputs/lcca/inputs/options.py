"""Verbs: each is one frozen dataclass, of which its command line, its Python function and its runs' identity are made.

    @frozen
    class Evaluate:
        policies: Sequence[str] = argument("a file or a name")
        _: KW_ONLY
        trials: Count | None = option("networks (default: all of a list)")

A field is a parameter of the function and an option of the command; those that the function takes by position are
arguments of the command. Where Python calls, pydantic checks the types; the command line does so itself, lest `--help`
wait for pydantic.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, dataclass_transform, get_args, get_origin
from typing import get_type_hints as hints_of

from lcca.inputs.errors import InputError, require
from lcca.inputs.numbers import integer

T = TypeVar("T")

MOST = 1_000_000


@dataclass(frozen=True)
class Limits:
    """Limits of a number, by pydantic's names of them."""

    ge: int | None = None
    le: int | None = None
    lt: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return pydantic's schema with these limits."""
        return handler(source) | {name: value for name, value in vars(self).items() if value is not None}


Count: TypeAlias = Annotated[int, Limits(ge=1, le=MOST)]
"""A whole number of at least 1, small enough to count what a computer can hold."""

Seed: TypeAlias = Annotated[int, Limits(ge=0, lt=2**63)]
"""A whole number that is small enough to be a seed of the engine."""


@dataclass(frozen=True)
class Option:
    """What a field of a verb is on the command line; the attributes from `key` on are those of the field.

    Attributes:
        help: what it means.
        name: as in ``--set``, or of an argument in help; that of the field unless given.
        metavar: what stands for its value in help.
        read: makes the value of a text; what the type says unless given.
        choices: its values, where they are listed.
        usual: the default on the command line, where Python has another one.
        repeated: whether the option is given once for each of several values.
        counts: whether results depend on it, of a verb's own options.
        in_python: whether the function alone has it.
        key: its name in Python.
        shape: its type without None and limits; of several values that of one.
        several: whether it has any number of values.
        limits: of a number.
        default: `dataclasses.MISSING` where it must be given.
        positional: whether Python takes it by position.
    """

    help: str
    name: str = ""
    metavar: str | None = None
    read: Callable[[str], Any] | None = None
    choices: Sequence[str] = ()
    usual: Any = None
    repeated: bool = False
    counts: bool = True
    in_python: bool = False
    key: str = ""
    shape: Any = None
    several: bool = False
    limits: Limits = Limits()
    default: Any = None
    positional: bool = False


def argument(help: str, **more: Any) -> Any:
    """Return a field that must be given; `more` is as of `Option`."""
    return dataclasses.field(metadata={"option": Option(help, **more)})


def option(help: str, default: Any = None, **more: Any) -> Any:
    """Return a field with a default; `more` is as of `Option`."""
    return dataclasses.field(default=default, metadata={"option": Option(help, **more)})


@dataclass_transform(frozen_default=True, field_specifiers=(argument,))
def frozen(of: type[T]) -> type[T]:
    """Make a class whose fields are arguments and options a verb."""
    return dataclass(frozen=True)(of)


def options_of(cls: Any) -> list[Option]:
    """Return the options of a verb: first those that Python takes by position, its own before those of its bases."""
    hints = hints_of(cls, include_extras=True)
    order = [name for base in cls.__mro__ for name in vars(base).get("__annotations__", {})]
    found = sorted(dataclasses.fields(cls), key=lambda each: (each.kw_only, order.index(each.name)))
    return [_option(each, hints[each.name]) for each in found]


def _option(each: dataclasses.Field[Any], hint: Any) -> Option:
    shape, limits = _bare(hint)
    several = get_origin(shape) not in (None, Literal)
    shape, limits = _bare(get_args(shape)[0]) if several else (shape, limits)
    own: Option = each.metadata["option"]
    choices = get_args(shape) if get_origin(shape) is Literal else own.choices
    found = {"key": each.name, "shape": shape, "several": several, "limits": limits, "default": each.default}
    return replace(own, choices=choices, positional=not each.kw_only, **found)


def _bare(hint: Any) -> tuple[Any, Limits]:
    """Return a type without None and limits, and the limits."""
    if get_origin(hint) is Annotated:
        return hint.__origin__, next(each for each in hint.__metadata__ if isinstance(each, Limits))
    if get_origin(hint) in (Union, UnionType):
        if any(get_origin(each) is os.PathLike for each in get_args(hint)):
            return Path, Limits()
        return _bare(next(each for each in get_args(hint) if each is not NoneType))
    return hint, Limits()


def whole(text: str, limits: Limits) -> int:
    """Return the whole number that a text is.

    Raises:
        InputError: it is none, or beyond the limits.
    """
    try:
        value = integer(text)
    except ValueError:
        raise InputError(f"must be a whole number, got {text!r:.60}") from None
    least, most, end = limits.ge, limits.le, limits.lt
    require(least is None or value >= least, f"must be at least {least}, got {value}")
    require(most is None or value <= most, f"must be at most {most}, got {value}")
    require(end is None or value < end, f"must be below 2^{(end or 1).bit_length() - 1}, got {value}")
    return value
