"""Both ends of ns3-gym's protocol from its facts alone: raw ZeroMQ, protobuf bytes by hand, nothing shared with lcca.

As a program it is a simulation: ``ns3gym_peer.py [--lives=N] [--mute] [--crash] --openGymPort=P --simSeed=S``.
"""

import struct
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import zmq

PATIENCE = 10_000  # ms
DISCRETE, BOX, TUPLE, DICT = 1, 2, 3, 4
INT, UINT, FLOAT, DOUBLE = 1, 2, 3, 4
END, GAME_OVER = 0, 1
NAMES = {DISCRETE: "Discrete", BOX: "Box", TUPLE: "Tuple", DICT: "Dict"}
PACKED = {INT: (3, None), UINT: (4, None), FLOAT: (5, "f"), DOUBLE: (6, "d")}


# --- protobuf by hand


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value) if value else b""


def single(field: int, value: float) -> bytes:
    return varint(field << 3 | 5) + struct.pack("<f", value) if value else b""


def block(field: int, data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def take_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data: bytes) -> dict[int, list[Any]]:
    """Return what each field holds: integers for varints, bytes for everything else."""
    found: dict[int, list[Any]] = {}
    at = 0
    while at < len(data):
        key, at = take_varint(data, at)
        if key & 7 == 0:
            value, at = take_varint(data, at)
        else:
            size, at = (take_varint(data, at)) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            value, at = data[at : at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def varints(data: bytes) -> list[int]:
    out, at = [], 0
    while at < len(data):
        value, at = take_varint(data, at)
        out.append(value)
    return out


# --- spaces and data


def wrapped(kind: int, suffix: str, body: bytes, name: str = "") -> bytes:
    any_message = block(1, f"type.googleapis.com/ns3opengym.{NAMES[kind]}{suffix}") + block(2, body)
    return number(1, kind) + block(2, any_message) + (block(3, name) if name else b"")


def discrete_space(n: int, name: str = "") -> bytes:
    return wrapped(DISCRETE, "Space", number(1, n), name)


def box_space(low: float, high: float, dtype: int, shape: tuple[int, ...], name: str = "") -> bytes:
    dims = block(4, b"".join(map(varint, shape))) if shape else b""
    return wrapped(BOX, "Space", single(1, low) + single(2, high) + number(3, dtype) + dims, name)


def group_space(kind: int, elements: list[bytes], name: str = "") -> bytes:
    return wrapped(kind, "Space", b"".join(block(1, e) for e in elements), name)


def discrete(value: int, name: str = "") -> bytes:
    return wrapped(DISCRETE, "DataContainer", number(1, value), name)


def box(values: list[Any], dtype: int, shape: tuple[int, ...] = (), name: str = "") -> bytes:
    field, letter = PACKED[dtype]
    packed = b"".join(struct.pack(f"<{letter}", v) if letter else varint(v) for v in values)
    dims = block(2, b"".join(map(varint, shape))) if shape else b""
    return wrapped(BOX, "DataContainer", number(1, dtype) + dims + (block(field, packed) if values else b""), name)


def group(kind: int, elements: list[bytes], name: str = "") -> bytes:
    return wrapped(kind, "DataContainer", b"".join(block(1, e) for e in elements), name)


def opened(container: bytes, suffix: str) -> tuple[int, dict[int, list[Any]], str]:
    """Return kind, body and name of a container or a description."""
    outer = fields(container)
    kind = outer[1][0]
    inner = fields(outer[2][0])
    assert inner[1] == [f"type.googleapis.com/ns3opengym.{NAMES[kind]}{suffix}".encode()]
    return kind, fields(inner.get(2, [b""])[0]), outer.get(3, [b""])[0].decode()


def value_of(container: bytes) -> Any:
    """Return data as plain Python: int, (kind of number, shape, flat list), list of elements, or dict of them."""
    kind, body, _ = opened(container, "DataContainer")
    if kind == DISCRETE:
        return signed(body.get(1, [0])[0])
    if kind == BOX:
        return box_value(body)
    values = [value_of(element) for element in body.get(1, [])]
    names = [opened(element, "DataContainer")[2] for element in body.get(1, [])]
    return dict(zip(names, values, strict=True)) if kind == DICT else values


def box_value(body: dict[int, list[Any]]) -> tuple[int, list[int], list[Any]]:
    dtype = body[1][0]
    field, letter = PACKED[dtype]
    data = body.get(field, [b""])[0]
    assert not set(body) - {1, 2, field}
    if letter:
        values = list(struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data))
    else:
        values = [signed(v) for v in varints(data)]
    return dtype, varints(body.get(2, [b""])[0]), values


def space_of(description: bytes) -> Any:
    """Return a description as plain Python: n, (low, high, dtype, shape), list of elements, or dict of them."""
    kind, body, _ = opened(description, "Space")
    if kind == DISCRETE:
        return body[1][0]
    if kind == BOX:
        low, high = (struct.unpack("<f", body.get(i, [bytes(4)])[0])[0] for i in (1, 2))
        return low, high, body[3][0], varints(body.get(4, [b""])[0])
    inner = [space_of(element) for element in body.get(1, [])]
    names = [opened(element, "Space")[2] for element in body.get(1, [])]
    return dict(zip(names, inner, strict=True)) if kind == DICT else inner


# --- messages


def introduction(observations: bytes = b"", actions: bytes = b"") -> bytes:
    spaces = (block(3, observations) if observations else b"") + (block(4, actions) if actions else b"")
    return number(1, 4711) + number(2, 4712) + spaces


def state(data: bytes = b"", reward: float = 0.0, reason: int | None = None, info: bytes | str = "") -> bytes:
    over = b"" if reason is None else number(3, 1) + number(4, reason)
    return (block(1, data) if data else b"") + single(2, reward) + over + (block(5, info) if info else b"")


def action(data: bytes = b"", stop: bool = False) -> bytes:
    return (block(1, data) if data else b"") + number(2, stop)


# --- ends


def end(socket: Any, context: Any) -> None:
    socket.close()
    context.term()


class Socket:
    """A raw socket that does not wait for ever."""

    def __init__(self, kind: int, address: str) -> None:
        self.context = zmq.Context()
        self.socket = self.context.socket(kind)
        self.socket.setsockopt(zmq.RCVTIMEO, PATIENCE)
        self.socket.setsockopt(zmq.LINGER, 500)
        self.socket.setsockopt(zmq.RECONNECT_IVL, 10)
        self.close = weakref.finalize(self, end, self.socket, self.context)
        (self.socket.bind if kind == zmq.REP else self.socket.connect)(address)

    def ask(self, data: bytes) -> bytes:
        self.socket.send(data)
        return self.socket.recv()


@contextmanager
def agent(port: int) -> Iterator[Any]:
    """Yield the agent's raw REP socket."""
    end = Socket(zmq.REP, f"tcp://*:{port}")
    try:
        yield end.socket
    finally:
        end.close()


@contextmanager
def simulation(port: int) -> Iterator[Callable[[bytes], bytes]]:
    """Yield a function that sends a simulation's message and returns the answer."""
    end = Socket(zmq.REQ, f"tcp://localhost:{port}")
    try:
        yield end.ask
    finally:
        end.close()


class Background(threading.Thread):
    """The peer's part of a conversation; what goes wrong in it is raised when it is joined."""

    def __init__(self, part: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.part, self.result, self.error = part, None, None
        self.start()

    def run(self) -> None:
        try:
            self.result = self.part()
        except BaseException as error:
            self.error = error

    def outcome(self) -> Any:
        self.join(15)
        assert not self.is_alive(), "the peer still waits"
        if self.error:
            raise self.error
        return self.result


OBSERVATIONS = box_space(-1e10, 1e10, DOUBLE, (3,))
ACTIONS = box_space(0, 65535, UINT, (2,))


def play(port: int, steps: int, reason: int = GAME_OVER, seed: int = 0) -> str:
    """Be a simulation whose state is (seed, step, sum of the action); return how it went."""
    with simulation(port) as ask:
        assert fields(ask(introduction(OBSERVATIONS, ACTIONS))) == {1: [1]}
        total = 0
        for step in range(steps):
            answer = fields(ask(state(box([seed, step, total], DOUBLE, (3,)), 0.5 * total, info=f"step {step}")))
            if answer.get(2):
                assert 1 not in answer
                return f"stopped after {step}"
            dtype, shape, values = value_of(answer[1][0])
            assert (dtype, shape) == (UINT, [2])
            total = sum(values)
        last = ask(state(box([seed, steps, total], DOUBLE, (3,)), 0.5 * total, reason, "over"))
        assert fields(last) == {2: [1]}
        return "over"


def main(arguments: list[str]) -> None:
    """Be a simulation in a process of its own."""
    given = dict(word.lstrip("-").partition("=")[::2] for word in arguments)
    if "crash" in given:
        sys.exit("the topology has no nodes")
    if "mute" in given:
        time.sleep(60)
    play(int(given["openGymPort"]), int(given.get("lives", 5)), seed=int(given["simSeed"]))


if __name__ == "__main__":
    main(sys.argv[1:])
