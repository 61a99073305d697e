"""Spaces and data of every kind: there and back, and byte for byte as the protocol's facts have it."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium")

sys.path.insert(0, str(Path(__file__).parent))  # ns3gym_peer

pytest.importorskip("zmq", reason="pyzmq is not installed")

import ns3gym_peer as peer
from gymnasium import spaces
from gymnasium.spaces.utils import flatdim
from hypothesis import given, settings
from hypothesis import strategies as st

from lcca.studies.ns3gym import schema
from lcca.studies.ns3gym.schema import ProtocolError
from lcca.studies.ns3gym.values import decode, describe, encode, is_empty, neutral, read_space

KINDS = {"i": peer.INT, "u": peer.UINT, "f": peer.FLOAT, "d": peer.DOUBLE}
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
INTEGERS = st.sampled_from([np.int8, np.int16, np.int32, np.uint8, np.uint16])  # their bounds are floats, too
FLOATS = st.sampled_from([np.float32, np.float64])


@st.composite
def boxes(draw):
    shape = draw(SHAPES)
    if draw(st.booleans()):
        dtype = draw(INTEGERS)
        ends = st.integers(max(np.iinfo(dtype).min, -(2**24)), min(np.iinfo(dtype).max, 2**24))
    else:
        dtype = draw(FLOATS)
        ends = st.floats(width=32, allow_nan=False)
    low, high = sorted([draw(ends), draw(ends)])
    if low == high == 0:
        high = dtype(1)
    if low == high and math.isinf(low):
        low, high = -math.inf, math.inf
    return spaces.Box(low, high, shape, dtype)


discretes = st.builds(spaces.Discrete, st.integers(1, 2**31 - 1))
leaves = st.one_of(boxes(), discretes)
any_space = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(spaces.Tuple),
        st.dictionaries(NAMES, inner, max_size=3).map(spaces.Dict),
    ),
    max_leaves=6,
)


def same(a, b):
    if isinstance(a, dict):
        return set(a) == set(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return np.asarray(a).dtype == np.asarray(b).dtype and np.array_equal(a, b, equal_nan=True)


def wire_kind(box):
    return KINDS["d" if box.dtype == np.float64 else box.dtype.kind]


def plain_space(space):
    """Return what the peer should see of a space."""
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.Box):
        low = float(space.low.min()) if space.low.size else -math.inf
        high = float(space.high.max()) if space.high.size else math.inf
        return low, high, wire_kind(space), list(space.shape)
    if isinstance(space, spaces.Tuple):
        return [plain_space(s) for s in space.spaces]
    return {key: plain_space(s) for key, s in space.spaces.items()}


def plain_value(space, value):
    """Return what the peer should see of a value."""
    if isinstance(space, spaces.Discrete):
        return int(value)
    if isinstance(space, spaces.Box):
        return wire_kind(space), list(space.shape), value.ravel().tolist()
    if isinstance(space, spaces.Tuple):
        return [plain_value(s, v) for s, v in zip(space.spaces, value, strict=True)]
    return {key: plain_value(s, value[key]) for key, s in space.spaces.items()}


def peers_value(space, value, name=""):
    """Return a value as the peer encodes it."""
    if isinstance(space, spaces.Discrete):
        return peer.discrete(int(value), name)
    if isinstance(space, spaces.Box):
        return peer.box(value.ravel().tolist(), wire_kind(space), space.shape, name)
    if isinstance(space, spaces.Tuple):
        return peer.group(peer.TUPLE, [peers_value(s, v) for s, v in zip(space.spaces, value, strict=True)], name)
    inner = [peers_value(space[key], value[key], key) for key in sorted(space.spaces)]
    return peer.group(peer.DICT, inner, name)


@settings(deadline=None, max_examples=50)
@given(any_space)
def test_spaces_there_and_back(space):
    description = describe(space, "space")
    assert peer.space_of(description.SerializeToString()) == plain_space(space)
    read = read_space(schema.read("SpaceDescription", description.SerializeToString()), "space")
    assert plain_space(read) == plain_space(space)
    assert flatdim(read) == flatdim(space) if not isinstance(space, spaces.Discrete) else read == space


@settings(deadline=None, max_examples=80)
@given(any_space, st.integers(0, 2**32 - 1))
def test_values_there_and_back(space, seed):
    space.seed(seed)
    value = space.sample()
    sent = encode(space, value, "value").SerializeToString()
    assert peer.value_of(sent) == plain_value(space, value)
    assert same(decode(space, schema.read("DataContainer", sent), "value"), value)
    theirs = schema.read("DataContainer", peers_value(space, value))
    assert same(decode(space, theirs, "value"), value)


@settings(deadline=None, max_examples=30)
@given(any_space)
def test_the_neutral_value_is_in_the_space(space):
    assert space.contains(neutral(space))


@pytest.mark.parametrize("number", [-(2**31), -1, 0, 2**31 - 1])
def test_ends_of_int32(number):
    space = spaces.Box(-(2**31), 2**31 - 1, (1,), np.int64)
    sent = encode(space, np.array([number]), "value").SerializeToString()
    assert peer.value_of(sent) == (peer.INT, [1], [number])
    assert decode(space, schema.read("DataContainer", sent), "value") == [number]


@pytest.mark.parametrize(("kind", "dtype"), [(peer.INT, np.int32), (peer.UINT, np.uint32)])
def test_bounds_of_integers_that_single_precision_cannot_hold(kind, dtype):
    limits = np.iinfo(dtype)
    description = schema.read("SpaceDescription", peer.box_space(float(limits.min), float(limits.max), kind, (2,)))
    assert read_space(description, "space") == spaces.Box(limits.min, limits.max, (2,), dtype)


def read(description):
    return read_space(schema.read("SpaceDescription", description), "space")


@pytest.mark.parametrize("dtype", [peer.INT, peer.UINT, peer.FLOAT, peer.DOUBLE])
@pytest.mark.parametrize("sent", [peer.INT, peer.UINT, peer.FLOAT, peer.DOUBLE])
def test_numbers_of_another_kind_and_flat_boxes(dtype, sent):
    space = read(peer.box_space(0, 9, dtype, (2, 2)))
    value = decode(space, schema.read("DataContainer", peer.box([1, 2, 3, 4], sent, (4,))), "value")
    assert value.tolist() == [[1, 2], [3, 4]]
    assert space.contains(value)


def test_bounds_that_were_lost_are_no_bounds():
    assert read(peer.box_space(0, 0, peer.INT, (2,))) == spaces.Box(-(2**31), 2**31 - 1, (2,), np.int32)
    assert read(peer.box_space(0, 0, peer.FLOAT, (2,))) == spaces.Box(-np.inf, np.inf, (2,))


def nested(depth):
    space = peer.discrete_space(2)
    for _ in range(depth):
        space = peer.group_space(peer.TUPLE, [space])
    return space


BAD_SPACES = {
    "unknown kind": (peer.number(1, 9), "no kind of space has the number 9"),
    "another message": (
        peer.number(1, peer.BOX) + peer.block(2, peer.block(1, "x/y.Z")),
        "expected ns3opengym.BoxSpace, got 'y.Z'",
    ),
    "unknown kind of number": (
        peer.wrapped(peer.BOX, "Space", peer.single(1, 1.0) + peer.number(3, 9)),
        "no kind of number has the number 9",
    ),
    "bounds that cross": (peer.box_space(2, 1, peer.FLOAT, (1,)), "hold nothing"),
    "a bound that is no number": (peer.box_space(float("nan"), 1, peer.FLOAT, (1,)), "hold nothing"),
    "bounds between integers": (peer.box_space(0.25, 0.75, peer.INT, (1,)), "hold no int32"),
    "a huge box": (peer.box_space(0, 1, peer.FLOAT, (2**31, 2**31)), "more than"),
    "no values": (peer.discrete_space(0), "discrete space of 0 values"),
    "a name twice": (peer.group_space(peer.DICT, [peer.discrete_space(2, "a")] * 2), "have the same name"),
    "a hole": (peer.group_space(peer.TUPLE, [b""]), r"space\[0\]: a part"),
    "too deep": (nested(40), "nested deeper than 32"),
}


@pytest.mark.parametrize("case", BAD_SPACES)
def test_malformed_descriptions(case):
    description, match = BAD_SPACES[case]
    with pytest.raises(ProtocolError, match=match):
        read(description)


def test_starts_of_discrete_spaces_stay_here():
    space = spaces.Discrete(3, start=-1)
    sent = encode(space, 1, "value").SerializeToString()
    assert peer.value_of(sent) == 2
    assert decode(space, schema.read("DataContainer", sent), "value") == 1


def test_repeated_numbers_one_by_one():
    """Protobuf lets a sender write repeated numbers unpacked."""
    body = peer.number(1, peer.INT) + peer.varint(3 << 3) + peer.varint(7) + peer.varint(3 << 3) + peer.varint(8)
    container = schema.read("DataContainer", peer.wrapped(peer.BOX, "DataContainer", body))
    assert decode(spaces.Box(0, 9, (2,), np.int32), container, "value").tolist() == [7, 8]


def test_fields_of_the_future_are_skipped():
    assert schema.read("EnvStateMsg", peer.state(reward=1.0) + peer.number(99, 5)).reward == 1.0


@pytest.mark.parametrize("data", [b"", peer.block(2, b"")])
def test_empty_data(data):
    assert is_empty(schema.read("DataContainer", data))


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=60), st.sampled_from(["SimInitMsg", "EnvStateMsg", "EnvActMsg", "SimInitAck"]))
def test_any_bytes_are_read_or_refused(data, kind):
    try:
        message = schema.read(kind, data)
        for container in ("obsData", "actData"):
            if container in message.DESCRIPTOR.fields_by_name:
                decode(spaces.Discrete(2), getattr(message, container), "data")
        if kind == "SimInitMsg":
            read_space(message.obsSpace, "space")
    except ProtocolError:
        pass


@pytest.mark.parametrize(("module", "package"), [("zmq", "pyzmq"), ("gymnasium", "gymnasium")])
def test_what_is_missing_is_named(module, package):
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "try: import lcca.studies.ns3gym.remote\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    said = f"both ends of ns3-gym need the package {package}: pip install 'lcca[ns3gym]'\n"
    assert done.stdout == said, done.stderr
