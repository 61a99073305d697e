"""Codecs: numbers to codes and back."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lcca.inputs.errors import InputError
from lcca.signal_sets.headers.encoding import Counter, Enum, Flag, Float, Linear, Log, Table, Uint
from lcca.signal_sets.headers.header import header

from .codec import codec, field_codec

ROUNDINGS = st.sampled_from(["floor", "ceil", "nearest", "stochastic"])
SIZES = st.floats(1e-6, 1e6)
STEPS = st.floats(1e-3, 1e3)


@st.composite
def tables(draw):
    values = draw(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40, unique=True))
    return Table(values=tuple(sorted(values)), round=draw(ROUNDINGS)), draw(st.integers(6, 16))


@st.composite
def floats(draw):
    mant, exp = draw(st.integers(0, 12)), draw(st.integers(1, 6))
    return Float(mant=mant, exp=exp, step=draw(SIZES), round=draw(ROUNDINGS)), mant + exp


@st.composite
def linears(draw):
    base, bits = draw(st.sampled_from([0.0, -7.5, 1000.0])), draw(st.integers(1, 32))
    if draw(st.booleans()):
        return Linear(base=base, step=draw(STEPS), round=draw(ROUNDINGS)), bits
    return Linear(base=base, max=base + draw(st.floats(1.0, 1e6)), round=draw(ROUNDINGS)), bits


@st.composite
def logs(draw):
    base, zero = draw(st.floats(1.01, 3.0)), draw(st.booleans())
    return Log(base=base, min=draw(SIZES), zero=zero, round=draw(ROUNDINGS)), draw(st.integers(1, 8))


@st.composite
def uints(draw):
    return Uint(round=draw(ROUNDINGS)), draw(st.integers(1, 32))


GRIDS = st.one_of(tables(), floats(), linears(), logs(), uints())


@st.composite
def grids(draw):
    """A saturating codec of numbers, its rounding, and its smallest and largest number."""
    encoding, bits = draw(GRIDS)
    assume(encoding.problem(bits) is None)
    made = codec(encoding, bits)
    top = len(encoding.values) - 1 if isinstance(encoding, Table) else 2**bits - 1
    return made, encoding.round, made.decode_one(0), made.decode_one(top), top


@given(grids(), st.data())
@settings(deadline=None)
def test_a_number_of_the_grid_becomes_its_own_code(grid, data):
    made, _, _, _, top = grid
    codes = np.array(data.draw(st.lists(st.integers(0, top), min_size=1, max_size=20)), dtype=np.uint64)
    numbers = made.decode(codes)
    assert (made.encode(numbers, np.random.default_rng(1)) == codes).all()
    assert (made.encode(np.nextafter(numbers, -np.inf), np.random.default_rng(1)) <= codes).all()


@given(grids(), st.data())
@settings(deadline=None)
def test_round_trips_stay_within_one_step_on_the_side_that_rounding_says(grid, data):
    made, rounding, low, high, top = grid
    value = data.draw(st.floats(low, high))
    code = made.encode_one(value, np.random.default_rng(data.draw(st.integers(0, 99))))
    back = made.decode_one(code)
    below = made.decode_one(max(code - 1, 0))
    above = made.decode_one(min(code + 1, top))
    assert below <= value <= above
    if rounding == "floor":
        assert back <= value and (value < above or code == top)
    if rounding == "ceil":
        assert back >= value and (value > below or code == 0)
    if rounding == "nearest":
        assert abs(back - value) <= min(
            abs(below - value) if code else np.inf, abs(above - value) if code < top else np.inf
        )


@given(grids(), st.data())
@settings(deadline=None)
def test_codes_ascend_with_numbers(grid, data):
    made, rounding, low, high, _ = grid
    assume(rounding != "stochastic")
    spread = max(abs(low), abs(high), 1.0)
    values = np.array(sorted(data.draw(st.lists(st.floats(-2 * spread, 2 * spread), min_size=2, max_size=30))))
    codes = made.encode(values)
    assert (codes[1:] >= codes[:-1]).all()


@given(grids())
@settings(deadline=None)
def test_numbers_beyond_the_ends_saturate(grid):
    made, _, low, high, top = grid
    beyond = abs(high) * 2 + 1
    assert made.encode_one(high + beyond, np.random.default_rng(1)) == top
    assert made.encode_one(low - beyond, np.random.default_rng(1)) == 0


@given(grids())
@settings(deadline=None, max_examples=50)
def test_scalar_and_array_agree(grid):
    made, _, low, high, _ = grid
    values = np.linspace(low, high, 7).reshape(7, 1)
    together = made.encode(values, np.random.default_rng(3))
    stream = np.random.default_rng(3)
    assert together.shape == (7, 1)
    assert together.ravel().tolist() == [made.encode_one(float(value), stream) for value in values.ravel()]


@given(
    st.floats(0, 40),
    st.sampled_from([Linear(step=0.37, round="stochastic"), Log(base=1.3, min=0.1, round="stochastic")]),
)
@settings(deadline=None, max_examples=20)
def test_stochastic_rounding_keeps_the_mean(value, encoding):
    made = codec(encoding, 8)
    value = max(value, made.decode_one(0))
    draws = 4000
    numbers = made.decode(made.encode(np.full(draws, value), np.random.default_rng(7)))
    levels = np.unique(made.decode(np.arange(256)))
    above = min(max(int(np.searchsorted(levels, value)), 1), len(levels) - 1)
    low, high = levels[above - 1], levels[above]
    share = (value - low) / (high - low)  # must be rounded up; binomial, and few where it is near 0 or 1
    assert set(numbers) <= {low, high}
    assert abs((numbers == high).sum() - draws * share) <= 6 * math.sqrt(draws * share * (1 - share)) + 6


def test_stochastic_rounding_takes_one_draw_a_number_from_the_given_stream():
    made = codec(Uint(round="stochastic"), 8)
    share = np.random.default_rng(5).random(1000)
    assert (made.encode(np.full(1000, 3.25), np.random.default_rng(5)) == np.where(share < 0.25, 4, 3)).all()
    with pytest.raises(InputError, match="needs a random stream"):
        made.encode_one(3.25)


@given(st.integers(1, 52), st.floats(1e-3, 1e3), st.integers(0, 2**50), st.integers(0, 2**50))
@settings(deadline=None)
def test_counters_wrap(bits, step, start, more):
    made = codec(Counter(step=step), bits)
    steps = np.array([start, start + more])
    codes = made.encode((steps + 0.5) * step)
    assert codes.tolist() == (steps % 2**bits).tolist()


@given(st.integers(1, 30), st.integers(-(2**40), 2**40))
def test_wrapping_is_modulo(bits, value):
    assert codec(Uint(overflow="wrap"), bits).encode_one(value) == value % 2**bits
    assert codec(Linear(step=2, overflow="wrap"), bits).encode_one(2 * value + 1) == value % 2**bits


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_32_bits_carry_the_paper_s_queue_exactly(packets):
    queue = field_codec(header("nosignal-8b").field("queue"))
    assert queue.decode_one(queue.encode_one(packets)) == packets


@given(st.floats(0, 1), st.integers(0, 2**31))
@settings(deadline=None)
def test_32_bits_carry_the_paper_s_link_to_half_a_billionth(value, threshold):
    """R+'s tables compare signals with thresholds; no comparison with a multiple of the step changes."""
    link = field_codec(header("nosignal-8b").field("link"))
    back = link.decode_one(link.encode_one(value))
    assert 0 <= value - back < 2**-31
    assert (value >= threshold * 2**-31) == (back >= threshold * 2**-31)
    assert link.decode_one(link.encode_one(threshold * 2**-31)) == threshold * 2**-31


@pytest.mark.parametrize("name", ["abw", "abwc", "delay"])
@given(st.floats(0, 1e7))
@settings(max_examples=50, deadline=None)
def test_compact_csig_s_numbers_stay_inside_their_bucket(name, value):
    field = header(f"csig-compact-{name}").field(name)
    made = field_codec(field)
    edges = [*field.encode.values, math.inf]
    code = made.encode_one(value)
    assert edges[code] <= made.decode_one(code) <= value < edges[code + 1]


def test_32_bits_are_exact_even_as_a_float():
    made = codec(Float(mant=24, exp=8, step="2^-149"), 32)
    values = np.abs(np.float32(np.random.default_rng(1).normal(size=1000))).astype(np.float64)
    assert (made.decode(made.encode(values)) == values).all()


def test_64_bits_saturate_exactly():
    made = codec(Uint(), 64)
    assert made.encode([2.0**64, 1e300, 2.0**63, -1.0]).tolist() == [2**64 - 1, 2**64 - 1, 2**63, 0]
    assert codec(Uint(), 64, "all_ones").encode([1e300, math.nan]).tolist() == [2**64 - 2, 2**64 - 1]


def test_small_floats_are_what_they_say():
    numbers = codec(Float(mant=3, exp=2, step=0.5), 5).decode(np.arange(32))
    assert numbers[:16].tolist() == [i / 2 for i in range(16)]
    assert numbers[16:].tolist() == [8 + i for i in range(8)] + [16 + 2 * i for i in range(8)]


def test_logarithms_with_and_without_zero():
    assert codec(Log(base=2, min=0.25), 3).decode(np.arange(8)).tolist() == [0.25, 0.5, 1, 2, 4, 8, 16, 32]
    assert codec(Log(base=2, min=0.25, zero=True), 3).decode(np.arange(8)).tolist() == [0, 0.25, 0.5, 1, 2, 4, 8, 16]
    assert codec(Log(base=2, min=0.25, zero=True), 3).encode([0, 0.2, 0.25]).tolist() == [0, 0, 1]


def test_max_is_the_largest_code():
    made = codec(Linear(max=1), 5)
    assert (made.decode_one(31), made.encode_one(1.0), made.encode_one(1.5)) == (1.0, 31, 31)


def test_pint_encodes_as_its_release():
    """`encode_u` and `get_n_bits` of pint.cc: log of u times 512, between neighbours by their values; 8 bits."""
    made = field_codec(header("pint").field("u"))
    assert made.decode(np.array([0, 1, 128])).tolist() == pytest.approx([1 / 512, 1.05 / 512, 1.05**128 / 512])
    assert math.ceil(math.log2(math.log(512**2) / math.log(1.05))) == made.bits == 8


def test_unknown_values_have_their_code():
    made = codec(Uint(), 8, "all_ones")
    assert made.encode([math.nan, 255, 254]).tolist() == [255, 254, 254]
    assert math.isnan(made.decode_one(255))
    zero = codec(Uint(), 8, "zero")
    assert zero.encode([math.nan, 0, 1]).tolist() == [0, 1, 1]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("encoding", [Uint(), Flag(), Counter(), Enum(values=(1.0, 2.0)), Table(values=(1.0, 2.0))])
def test_what_a_field_cannot_say_is_refused(encoding, value):
    if isinstance(encoding, Flag) and math.isinf(value):
        return
    with pytest.raises(InputError):
        codec(encoding, 1).encode_one(value)


def test_enums_of_names_and_numbers():
    names = codec(Enum(values=("not_ect", None, "ect0", "ce")), 2)
    assert [names.encode_one(name) for name in ("not_ect", "ect0", "ce")] == [0, 2, 3]
    assert [names.decode_one(code) for code in (0, 2, 3)] == ["not_ect", "ect0", "ce"]
    rates = codec(Enum(values=(25.0, 50.0, 100.0)), 3)
    assert rates.encode([100, 25]).tolist() == [2, 0]
    assert rates.decode([1]).tolist() == [50]
    assert codec(Enum(values=(25.0, 50.0), unlisted="nearest"), 3).encode([24, 48, 1e9]).tolist() == [0, 1, 1]
    with pytest.raises(InputError, match=r"24 is not listed \(known: 25.0, 50.0, 100.0\)"):
        rates.encode_one(24)
    with pytest.raises(InputError, match=r"'cee' is not listed.*did you mean 'ce'"):
        names.encode_one("cee")
    with pytest.raises(InputError, match="leaves out"):
        names.decode_one(1)


@pytest.mark.parametrize(
    ("made", "codes"),
    [
        (codec(Uint(), 4), [16]),
        (codec(Uint(), 4), [-1]),
        (codec(Uint(), 4), [1.0]),
        (codec(Flag(), 1), [2]),
        (codec(Table(values=(1.0, 2.0)), 4), [2]),
        (codec(Enum(values=("a",)), 4), [1]),
    ],
)
def test_what_is_no_code_is_refused(made, codes):
    with pytest.raises(InputError, match="codes"):
        made.decode(codes)


@pytest.mark.parametrize(
    ("encoding", "bits", "text"),
    [
        (Float(mant=3, exp=4), 8, "mant 3 and exp 4 are 7 bits, the field has 8"),
        (Table(values=(1.0, 2.0, 3.0)), 1, "3 values do not fit into 1 bits"),
        (Enum(values=("a", "b", "c")), 1, "3 values do not fit"),
        (Flag(), 2, "a flag has 1 bit"),
        (Log(base=2, min=1), 17, "at most 16 bits"),
        (Log(base=2, min=1), 16, "make base smaller"),
        (Counter(), 64, "at most 52 bits"),
        (Linear(base=1e18, step=1), 8, "is lost beside"),
        (Linear(step=1e300), 64, "no finite number"),
    ],
)
def test_what_does_not_fit_is_told(encoding, bits, text):
    with pytest.raises(InputError, match=text):
        codec(encoding, bits)


@given(grids())
@settings(max_examples=50, deadline=None)
def test_the_numbers_of_a_small_field_rise(grid):
    made, _, low, _, top = grid
    if made.bits <= 16 and top == 2**made.bits - 1:
        numbers = made.decode(np.arange(2**made.bits))
        assert numbers[0] == low and (np.diff(numbers) > 0).all()
