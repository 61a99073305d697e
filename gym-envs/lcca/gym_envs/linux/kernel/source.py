"""A control law as the C of a congestion control of Linux's TCP, for BPF."""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib.resources import files

from lcca.inputs.errors import require
from lcca.remy_plus.policies.law import FEATURES, Law

MOST_ACKS = 8
"""Packets of one ACK that the law hears one by one."""

RANGES = {
    "gap": (-10, 30),
    "boost": (-30, 9),
    "boost_time": (-15, 30),
    "boost_queue": (-30, 10),
    "recovery_power": (-3.5, 3.5),
    "jump": (-64, 30),
}
"""Of terms that whole numbers of 64 bits have room for."""

LARGEST_WINDOW = 16_384

_HEAD = """\
/* A control law of lcca as a congestion control of Linux's TCP, 6.10 and later. With clang and bpftool, as root:
 *
 *   clang -O2 -g -target bpf -mcpu=v3 -c FILE -o law.o && bpftool struct_ops register law.o
 *
 * and then setsockopt(TCP_CONGESTION) or sysctl net.ipv4.tcp_congestion_control has {name}, until
 *
 *   bpftool struct_ops unregister name {name}
 *
 * The law learnt with times in us; with -DLCCA_TIME_SCALE=1000 its us are ms here. */
#ifndef LCCA_TIME_SCALE
#define LCCA_TIME_SCALE {scale}
#endif
#ifndef LCCA_NAME
#define LCCA_NAME {name} /* at most 15 letters; of the whole machine */
#endif
#define LCCA_MOST_ACKS {acks} /* of packets that one ACK says have come */

"""


def kernel_source(law: Law, name: str = "lcca_law", time_scale: int = 1) -> str:
    """Return a law as the text of one C file, which needs no header of the system.

    Args:
        law: of what senders measure themselves.
        name: what the kernel calls it, at most 15 characters.
        time_scale: µs of the kernel in one of the law.

    Raises:
        InputError: a law with signals of hops, or with numbers that whole numbers have no room for.
    """
    require(not law.signals, f"inputs: {', '.join(law.signals)}: a law in the kernel has what senders measure alone")
    _require_room(law)
    head = _HEAD.format(name=name, scale=time_scale, acks=MOST_ACKS)
    fixed, tcp = ((files(__package__) / each).read_text() for each in ("law_fixed.h", "law_tcp.h"))
    return head + fixed + _numbers(law) + "\n#ifdef __bpf__\n" + tcp + "#endif\n"


def _require_room(law: Law) -> None:
    terms, most = law.named_terms, math.log2(law.largest_window)
    for name, (low, high) in RANGES.items():
        require(
            low <= terms[name] <= high, f"terms: {name}: {terms[name]:g} is not from {low:g} to {high:g}: {_NO_ROOM}"
        )
    up = terms["increase"] + law.bound - min(0.0, terms["increase_window"] * most)
    down = terms["decrease"] + law.bound + max(0.0, terms["decrease_window"] * most) + max(0.0, terms["decrease_young"])
    for name, exponent in (("increase", up), ("decrease", down), ("pace", terms["pace"] + law.bound)):
        require(exponent <= 10, f"terms: {name}: may come to 2^{exponent:.3g}, more than 2^10: {_NO_ROOM}")
    require(law.largest_window <= LARGEST_WINDOW, f"largest_window: above {LARGEST_WINDOW:,}: {_NO_ROOM}")


_NO_ROOM = "a law in the kernel is of whole numbers, which have no room for it"


def _numbers(law: Law) -> str:
    terms = law.named_terms
    rows = law.features or ((0.0, 0.0, 0.0),) * len(FEATURES)
    window = min(max(2 ** terms["window"], 1), law.largest_window)
    gap = max(1, round(2 ** terms["gap"] * 4096))
    burst = int(2 ** min(max(terms["window"], 0), 30))
    parts = [
        _row(law.terms),
        "{" + ",\n    ".join(map(_row, rows)) + "}",
        *map(_fixed, (law.bound, law.largest_window, law.refresh)),
        *(_fixed(2**each) for each in (-terms["boost_time"], terms["boost_queue"])),
        _fixed(window),
        str(gap),
        str(burst),
    ]
    return "\nstatic const struct law fixed_law = {\n    " + ",\n    ".join(parts) + ",\n};\n"


def _row(values: Iterable[float]) -> str:
    return "{" + ", ".join(map(_fixed, values)) + "}"


def _fixed(value: float) -> str:
    return str(math.floor(value * 2**24 + 0.5))
