"""Transports by their names, with their markers and tuners."""

from __future__ import annotations

from dataclasses import replace

from lcca.inputs.assignments import named_numbers
from lcca.inputs.errors import InputError, about, did_you_mean
from lcca.remy_plus.switches.markers import MARKERS, marking
from lcca.remy_plus.switches.transports import Transport
from lcca.remy_plus.tuners.kinds import Learnt
from lcca.remy_plus.tuners.registry import TUNERS, tuning


def named_transport(text: str) -> Transport:
    """Return what ``hpcc`` and ``dcqcn:increase_us=55,fast_recovery=5`` mean.

    Behind ``@`` come a marker and a tuner, as in ``dctcp@red:pmax=0.1``, ``dcqcn@expert`` or, with the file of what it
    has learnt, ``dcqcn@acc:model.json,interval_us=50``. The name of that file has no ``@``, ``,`` or ``=``.

    Raises:
        InputError: an unknown name or parameter, a value that is no finite number, or a file that cannot be.
    """
    own, *behind = text.split("@")
    name, parameters = named_numbers(own)
    found = Transport(name, parameters)
    for part in behind:
        part, file = _without_file(part)
        kind, values = named_numbers(part)
        with about(f"{name}@{kind}"):
            found = _with(found, kind, values, file)
    return found


def _with(transport: Transport, kind: str, values: dict[str, float], file: str) -> Transport:
    """Return a transport with a marker or a tuner; the file is of what a tuner has learnt."""
    part = transport.tuner if kind in TUNERS else transport.marker
    if part is not None:
        raise InputError(f"there is a {'tuner' if kind in TUNERS else 'marker'} already, {part.kind}")
    if kind in TUNERS:
        return replace(transport, tuner=tuning(kind, _learnt(kind, file), **values))
    if kind not in MARKERS:
        raise InputError(f"neither a marker nor a tuner{did_you_mean(kind, [*MARKERS, *TUNERS])}")
    return replace(transport, marker=marking(kind, **values))


def _learnt(kind: str, file: str) -> Learnt | None:
    read = TUNERS[kind].read
    found: Learnt | None = read(file) if file and read is not None else None
    return found


def _without_file(text: str) -> tuple[str, str]:
    """Return what names a tuner that is learnt without its file, and that file; any other text and nothing."""
    kind, _, rest = text.partition(":")
    first, _, others = rest.partition(",")
    if kind not in TUNERS or not TUNERS[kind].learnt or "=" in first:
        return text, ""
    return f"{kind}:{others}", first.strip()
