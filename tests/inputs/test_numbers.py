"""Numbers in texts: digits of one script, and what stands behind a comma."""

import math

import pytest

from lcca.inputs.assignments import assignments
from lcca.inputs.errors import InputError
from lcca.inputs.numbers import integer, real


@pytest.mark.parametrize("text", ["٣", "1_000", "３", "1e", "", "0x10", "1,5", "−1"])
def test_what_is_no_number(text: str) -> None:
    for read in (real, integer):
        with pytest.raises(ValueError):
            read(text)


def test_numbers() -> None:
    assert [real(text) for text in ("1.5", " -2e3 ", "inf")] == [1.5, -2000, math.inf]
    assert [integer(text) for text in ("15", " -2 ")] == [15, -2]
    with pytest.raises(ValueError):
        integer("1.5")


def test_assignments() -> None:
    assert assignments("gain=0.5, b = 2,c,,d=") == [
        ("gain=0.5", "gain", "0.5"),
        (" b = 2", "b", "2"),
        ("c", "c", None),
        ("d=", "d", ""),
    ]
    for text in ("eta=1,95", "a=2,eta=1,95,b=3"):
        with pytest.raises(InputError, match=r"'eta=1,95': decimals take a point: eta=1\.95"):
            assignments(text)
    with pytest.raises(InputError, match="b: given twice"):
        assignments("b=1,a=2,b=1")
