"""What plans of trials in other processes have in common: options by name, and the network."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from lcca.inputs.assignments import assignments
from lcca.inputs.errors import InputError, did_you_mean, require
from lcca.inputs.numbers import integer, real

if TYPE_CHECKING:
    from lcca.remy_plus.network import Network


def named_options(options: type[Any], what: str, text: str) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the fields of a dataclass that a text such as ``header_bytes=0,MinTh=5`` gives, and those with capitals.

    Raises:
        InputError: no such field, or a value that is no number.
    """
    types = {each.name: str(each.type) for each in fields(options) if each.name != "queue_attributes"}
    values: dict[str, Any] = {}
    attributes: list[tuple[str, str]] = []
    for item, name, value in assignments(text):
        if value is None:
            raise InputError(f"{what}: {item[:60]!r}: write name=value")
        if name[:1].isupper():
            attributes.append((name, value))
            continue
        require(name in types, f"{what}: unknown {name[:60]!r}{did_you_mean(name, types)}")
        try:
            values[name] = _value(types[name], value)
        except ValueError as error:
            raise InputError(f"{what}: {name}={value[:60]}: {error}") from None
    return values, attributes


def _value(kind: str, text: str) -> Any:
    if kind == "str":
        return text
    if kind == "bool":
        if text not in ("true", "false"):
            raise ValueError("must be true or false")
        return text == "true"
    try:
        return integer(text) if "int" in kind else real(text)
    except ValueError:
        raise ValueError("must be a number") from None


def network_part(network: Network, workload: tuple[Any, ...]) -> dict[str, Any]:
    """Return the part of a plan that says what the network is."""
    names = ("link_rate", "rtt", "buffer", "loss")
    numbers = {name: float(getattr(network, name)) for name in names}
    whole = {"id": int(network.drawn_by), "senders": int(network.senders)}
    return numbers | whole | {"workload": workload}
