"""Quantities become the plain numbers of keys: against values worked out by hand, and there and back exactly."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lcca.inputs.errors import ConfigError
from lcca.inputs.model import Model, keyed_numbers
from lcca.inputs.units import TARGETS, UNITS, plain_number, unit_of_key
from lcca.inputs.validation import read_config


@pytest.mark.parametrize(
    ("text", "target", "number"),
    [
        ("12 us", "ns", 12_000),
        ("12µs", "us", 12),
        ("2.5 ms", "us", 2500),
        ("1 min", "s", 60),
        ("250 ns", "us", 0.25),
        ("1500 B", "bytes", 1500),
        ("1500 bytes", "bits", 12_000),
        ("32 MB", "bytes", 32_000_000),
        ("32 MiB", "bytes", 33_554_432),
        ("1e3 kbit", "bytes", 125_000),
        ("100 Gbps", "gbps", 100),
        ("0.4 Tb/s", "gbps", 400),
        ("1 GB/s", "gbps", 8),
        ("12 Mbit/s", "mbps", 12),
        ("200 packets", "whole packets", 200),
        ("2 packets/ns", "packets/us", 2000),
        ("1e6 packets/s", "packets/us", 1),
    ],
)
def test_known_quantities(text: str, target: str, number: float) -> None:
    found = plain_number(text, TARGETS[target])
    assert found == number
    assert isinstance(found, type(number))


@pytest.mark.parametrize(
    ("text", "target", "packet_bytes", "number"),
    [
        ("12 Gbps", "packets/us", 1500, 1),  # a packet of 12,000 bits each µs
        ("100 Gbps", "packets/us", 1000, 12.5),
        ("32 MB", "packets", 1000, 32_000),
        ("3 kB", "packets", 2000, 1.5),
        ("32 MB", "whole packets", 1500, 21_333),  # 21,333.3: what does not fit is left out
    ],
)
def test_packets_take_the_size_of_one(text: str, target: str, packet_bytes: int, number: float) -> None:
    assert plain_number(text, TARGETS[target], packet_bytes) == number
    with pytest.raises(ValueError, match=r"add packet_bytes, such as packet_bytes: 1500"):
        plain_number(text, TARGETS[target])


@given(number=st.floats(-1e15, 1e15), name=st.sampled_from([each for each in TARGETS if each != "whole packets"]))
def test_a_number_is_the_same_with_its_own_unit(number: float, name: str) -> None:
    target = TARGETS[name]
    own = next(text for text, unit in UNITS.items() if unit == target.unit)
    assert plain_number(f"{number!r} {own}", target) == number


NAMES, COUNTED = st.sampled_from(sorted(UNITS)), st.sampled_from(sorted(TARGETS))


@given(number=st.decimals(1, 10**9, places=3), name=NAMES, target=COUNTED)
def test_there_and_back(number: Decimal, name: str, target: str) -> None:
    """What a key counts is, told in the unit again, what was told."""
    unit, counted = UNITS[name], TARGETS[target]
    if unit.dimension == counted.unit.dimension and not counted.whole:
        plain = plain_number(f"{number} {name}", counted)
        assert float(plain * counted.unit.factor / unit.factor) == pytest.approx(float(number), rel=1e-14)


@given(name=NAMES, target=COUNTED)
def test_another_dimension_is_refused_and_told(name: str, target: str) -> None:
    found, wanted = UNITS[name].dimension, TARGETS[target].unit.dimension
    fits = found == wanted or (found, wanted) in (("size", "number of packets"), ("rate", "rate of packets"))
    if fits:
        plain_number(f"30000 {name}", TARGETS[target], 1500)
    else:
        with pytest.raises(ValueError, match=f"is a {found}; give a plain number of .*, or a unit as in "):
            plain_number(f"3 {name}", TARGETS[target], 1500)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("fast", "must be a number, found 'fast'; give a plain number of Gb/s, or a unit as in 100 Gbps"),
        ("100", "'100' is text without a unit"),
        ("100 Gbqs", "unknown unit 'Gbqs' (did you mean 'Gbps'?)"),
        ("100 gbps", "unknown unit 'gbps' (did you mean Gbps?)"),
        ("100 m", "unknown unit 'm'"),
        ("1e999 Gbps", "is too large"),
        ("--1 Gbps", "must be a number"),
        ("nan Gbps", "must be a number"),
    ],
)
def test_what_is_no_quantity_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError) as error:
        plain_number(text, TARGETS["gbps"])
    assert problem in str(error.value)


@pytest.mark.parametrize("text", ["1 B", "1499 B", "-1 bit", "0.9 packets"])
def test_less_than_a_packet_is_not_none(text: str) -> None:
    target = TARGETS["whole packets"]
    with pytest.raises(ValueError, match=f"'{text}' is less than one of the packets .*; write 0 for none"):
        plain_number(text, target, 1500)
    assert [plain_number(each, target, 1500) for each in ("0 B", "1500 B", "4499 B")] == [0, 1, 2]


def test_kilobytes_are_told_apart() -> None:
    with pytest.raises(ValueError, match=r"kB is 1000 bytes, KiB 1024"):
        plain_number("32 KB", TARGETS["bytes"])


def test_names_of_keys_tell_their_unit() -> None:
    told = {"delay_ns": "ns", "gbps": "gbps", "bytes": "bytes", "link_mbps": "mbps", "every_s": "s"}
    assert {name: unit_of_key(name) for name in told} == told
    assert [unit_of_key(name) for name in ("senders", "hops", "every_packets", "loss")] == [None] * 4


class Link(Model):
    """Keys of all kinds."""

    units: ClassVar[Mapping[str, str]] = {"rate": "packets/us", "buffer": "whole packets"}

    packet_bytes: int | None = None
    rate: float
    buffer: float = 10
    delay_ns: float = 1000.0
    sizes_bytes: tuple[int, ...] = ()


def test_a_file_is_read_as_with_plain_numbers(tmp_path: Path) -> None:
    told, plain = tmp_path / "told.yaml", tmp_path / "plain.yaml"
    told.write_text("packet_bytes: 1 kB\nrate: 16 Gbps\nbuffer: 1 MB\ndelay_ns: 2 us\nsizes_bytes: [10 kB, 7]\n")
    plain.write_text("packet_bytes: 1000\nrate: 2\nbuffer: 1000\ndelay_ns: 2000\nsizes_bytes: [10000, 7]\n")
    assert read_config(told, Link).model_dump_json() == read_config(plain, Link).model_dump_json()
    assert read_config(plain, Link, ["delay_ns=3 us"]).delay_ns == 3000


def test_all_errors_are_told_with_line_and_key(tmp_path: Path) -> None:
    file = tmp_path / "link.yaml"
    file.write_text("rate: 16 Gbps\nbuffer: 3 us\ndelay_ns: 2 GB\nsizes_bytes:\n- 1 B\n- 0.5 B\n- 2 bqs\n")
    with pytest.raises(ConfigError) as error:
        read_config(file, Link)
    lines = str(error.value).splitlines()
    starts = ["1: rate: '16 Gbps' must become", "2: buffer: '3 us' is a time", "3: delay_ns: '2 GB' is a size"]
    assert [line.removeprefix(f"{file}:")[: len(start)] for line, start in zip(lines, starts, strict=False)] == starts
    assert "7: sizes_bytes.2: '2 bqs': unknown unit" in lines[3]
    assert len(lines) == 4


def test_keys_that_a_model_does_not_know_have_units_too() -> None:
    assert keyed_numbers({"kmin_bytes": "100 kB", "pmax": 0.1, "kind": "red", "g_us": ["2 ms", "auto"]}) == {
        "kmin_bytes": 100_000,
        "pmax": 0.1,
        "kind": "red",
        "g_us": [2000, "auto"],
    }
    with pytest.raises(ValidationError, match="is a time"):
        keyed_numbers({"kmin_bytes": "100 us"})
