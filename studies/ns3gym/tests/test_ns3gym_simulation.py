"""The simulation's end against agents that are written from the protocol's facts alone, and our two ends together."""

import os
import socket
import sys
import time
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("zmq", reason="pyzmq is not installed")

sys.path.insert(0, str(Path(__file__).parent))  # ns3gym_peer

import ns3gym_peer as peer  # noqa: E402
from gymnasium import spaces  # noqa: E402

from lcca.inputs.errors import InputError  # noqa: E402
from lcca.studies.ns3gym.remote import RemoteSimulation  # noqa: E402
from lcca.studies.ns3gym.schema import PeerLost, ProtocolError  # noqa: E402
from lcca.studies.ns3gym.served import Episode, ServedEnvironment  # noqa: E402


class Counter(gymnasium.Env):
    """Counts steps, and shows the last action."""

    def __init__(self, steps, truncate=False, actions=None, info=None):
        self.observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float64)
        self.action_space = actions or spaces.Box(np.array([-1, -2], "f"), np.array([1, 2], "f"))
        self.steps, self.truncate, self.info = steps, truncate, info or {}
        self.taken, self.seeds = [], []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.taken = []
        return np.zeros(3), self.info

    def step(self, action):
        self.taken.append(action)
        over = len(self.taken) == self.steps
        shown = np.ravel(action) if isinstance(action, np.ndarray) else [0.0]
        observation = np.array([len(self.taken), *shown, 0.0])[:3]
        return observation, len(self.taken) / 2, over and not self.truncate, over and self.truncate, self.info


class Served:
    """An environment served in the background, and a port for its agent."""

    def __init__(self, env, episodes=1, seed=None, **options):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        options = {"timeout": 5.0, "start_timeout": 5.0, **options}
        self.env = env
        self.end = ServedEnvironment(env, port=self.port, **options)
        self.episodes = peer.Background(lambda: self.end.run(episodes, seed))

    def outcome(self):
        return self.episodes.outcome()


def meet(agent):
    """Answer the introduction; return its fields."""
    introduction = peer.fields(agent.recv())
    agent.send(peer.number(1, 1))
    return introduction


def drive(agent, action, steps=10**9):
    """Send actions until the game is over, or stop after some; return the last state's fields and the count."""
    count = 0
    while True:
        state = peer.fields(agent.recv())
        over = bool(state.get(3, [0])[0])
        agent.send(peer.action(stop=True) if over or count == steps else peer.action(action))
        if over or count == steps:
            return state, count
        assert peer.value_of(state[1][0])[2][0] == count
        count += 1


ACTION = peer.box([0.25, 2.0], peer.FLOAT, (2,))


@pytest.mark.parametrize(
    ("truncate", "reason", "end"), [(False, peer.GAME_OVER, "terminated"), (True, peer.END, "truncated")]
)
def test_a_thousand_steps_to_the_end(truncate, reason, end):
    served = Served(Counter(1000, truncate), seed=3)
    with peer.agent(served.port) as agent:
        introduction = meet(agent)
        state, count = drive(agent, ACTION)
    assert introduction[1] == introduction[2] == [os.getpid()]
    assert peer.space_of(introduction[3][0]) == (-np.inf, np.inf, peer.DOUBLE, [3])
    assert peer.space_of(introduction[4][0]) == (-2.0, 2.0, peer.FLOAT, [2])
    assert count == 1000
    assert state.get(4, [0]) == [reason]
    assert peer.value_of(state[1][0]) == (peer.DOUBLE, [3], [1000, 0.25, 2.0])
    assert np.frombuffer(state[2][0], "<f4") == [500]
    assert served.outcome() == [Episode(1000, 250_250.0, end)]
    assert served.env.seeds == [3]


def test_the_agent_stops():
    served = Served(Counter(100))
    with peer.agent(served.port) as agent:
        meet(agent)
        drive(agent, ACTION, steps=7)
    assert served.outcome() == [Episode(7, 14.0, "stopped")]


def test_the_agent_declines():
    served = Served(Counter(100), episodes=3)
    with peer.agent(served.port) as agent:
        agent.recv()
        agent.send(peer.number(2, 1))
    assert served.outcome() == [Episode(0, 0.0, "declined")]


def test_episodes_with_an_agent_that_binds_anew_for_each():
    served = Served(Counter(2), episodes=3)
    for _ in range(3):
        with peer.agent(served.port) as agent:
            meet(agent)
            assert drive(agent, ACTION)[1] == 2
    assert [episode.end for episode in served.outcome()] == ["terminated"] * 3


def test_an_introduction_that_an_ending_agent_took_along_is_repeated():
    served = Served(Counter(2))
    with peer.agent(served.port) as ending:
        assert ending.poll(5000)
    with peer.agent(served.port) as agent:
        meet(agent)
        drive(agent, ACTION)
    assert served.outcome()[0].end == "terminated"


# --- silence


def test_no_agent():
    served = Served(Counter(1), start_timeout=0.3)
    with pytest.raises(PeerLost, match=r"an agent's answer to our introduction at tcp://.* within 0\.3 s"):
        served.outcome()


def test_an_agent_that_falls_silent():
    served = Served(Counter(1), timeout=0.3)
    with peer.agent(served.port) as agent:
        meet(agent)
        with pytest.raises(PeerLost, match=r"the agent's next action at tcp://.* within 0\.3 s"):
            served.outcome()


def test_an_agent_that_goes_away_is_noticed_before_the_timeout():
    served = Served(Counter(1), timeout=60)
    with peer.agent(served.port) as agent:
        meet(agent)
        agent.recv()
    began = time.monotonic()
    with pytest.raises(PeerLost, match="closed the connection"):
        served.outcome()
    assert time.monotonic() - began < 3


def test_an_agent_that_leaves_without_an_answer_to_the_end():
    served = Served(Counter(1))
    with peer.agent(served.port) as agent:
        meet(agent)
        agent.recv()
        agent.send(peer.action(ACTION))
        agent.recv()
    assert served.outcome() == [Episode(1, 0.5, "terminated")]


# --- what is malformed


BAD_ACTIONS = {
    "bytes that are none": (b"\xff\xff\xff", "that are none"),
    "a state": (peer.state(ACTION, 0.0, peer.END) + peer.single(2, 1.0), "expected EnvActMsg, got another message"),
    "too many numbers": (peer.action(peer.box([1.0] * 3, peer.FLOAT)), "action: expected 2 numbers, got 3"),
    "another kind": (peer.action(peer.discrete(1)), "expected data of a box space, got discrete"),
    "not a number": (peer.action(peer.box([float("nan"), 1.0], peer.FLOAT)), "action: not a number"),
}


@pytest.mark.parametrize("case", BAD_ACTIONS)
def test_malformed_actions(case):
    message, match = BAD_ACTIONS[case]
    served = Served(Counter(9))
    with peer.agent(served.port) as agent:
        meet(agent)
        agent.recv()
        agent.send(message)
        with pytest.raises(ProtocolError, match=match):
            served.outcome()


@pytest.mark.parametrize(("answer", "match"), [(b"", "did not accept"), (b"\xff", "expected SimInitAck")])
def test_malformed_answers_to_the_introduction(answer, match):
    served = Served(Counter(9))
    with peer.agent(served.port) as agent:
        agent.recv()
        agent.send(answer)
        with pytest.raises(ProtocolError, match=match):
            served.outcome()


@pytest.mark.parametrize("value", [2, -1])
def test_a_discrete_action_outside(value):
    served = Served(Counter(9, actions=spaces.Discrete(2)))
    with peer.agent(served.port) as agent:
        meet(agent)
        agent.recv()
        agent.send(peer.action(peer.discrete(value)))
        with pytest.raises(ProtocolError, match=rf"action: {value} is not in 0\.\.1"):
            served.outcome()


@pytest.mark.parametrize(
    ("space", "match"),
    [
        (spaces.MultiBinary(3), "action space: ns3-gym has no MultiBinary"),
        (spaces.Tuple([spaces.Text(3)]), r"action space\[0\]: ns3-gym has no Text"),
        (spaces.Discrete(2**40), "more than"),
        (spaces.Dict({3: spaces.Discrete(2)}), "must be strings"),
        (spaces.Box(0, 1, (2,), bool), "no boxes of bool"),
    ],
)
def test_spaces_that_cannot_be_expressed(space, match):
    with pytest.raises(InputError, match=match):
        ServedEnvironment(Counter(1, actions=space))


def test_an_observation_beyond_the_wire():
    env = Counter(1)
    env.observation_space = spaces.Box(0, 2**62, (3,), np.int64)
    env.reset = lambda **_: (np.array([1, 2**40, 3]), {})
    served = Served(env)
    with peer.agent(served.port) as agent:
        meet(agent)
        with pytest.raises(InputError, match="observation: 1099511627776 is no int32"):
            served.outcome()


# --- what is odd, and tolerated


def taken(actions, *messages):
    """Return what an environment with these actions gets from an agent's messages."""
    served = Served(Counter(len(messages), actions=actions))
    with peer.agent(served.port) as agent:
        meet(agent)
        for message in [*messages, peer.action(stop=True)]:
            agent.recv()
            agent.send(message)
    served.outcome()
    return served.env.taken


def test_floats_for_doubles_and_flat_shapes():
    space = spaces.Box(-9, 9, (2, 1), np.float64)
    got = taken(space, *(peer.action(peer.box([0.5, 1], kind, (2,))) for kind in (peer.FLOAT, peer.DOUBLE)))
    assert [(a.tolist(), a.dtype) for a in got] == [([[0.5], [1.0]], np.float64)] * 2


def test_boxes_are_clipped():
    space = spaces.Box(np.array([-1, -2], "i"), np.array([1, 2], "i"), dtype=np.int32)
    assert taken(space, peer.action(peer.box([-2, 2], peer.INT)))[0].tolist() == [-1, 2]


def test_missing_actions_repeat_the_last_one():
    space = spaces.Dict({"a": spaces.Discrete(3, start=5), "b": spaces.Tuple([spaces.Box(1, 2, (1,))])})
    box = peer.group(peer.TUPLE, [peer.box([1.5], peer.FLOAT)], "b")
    full = peer.group(peer.DICT, [peer.discrete(2, "a"), box])
    got = taken(space, b"", peer.action(full), b"")
    assert got == [{"a": 5, "b": (1.0,)}, {"a": 7, "b": (1.5,)}, {"a": 7, "b": (1.5,)}]


@pytest.mark.parametrize(
    ("info", "text"),
    [
        ({}, ""),
        ({"info": "as it is"}, "as it is"),
        ({"rtt_us": np.float32(2.5), "flows": np.array([1, 2]), "who": Path("x")}, None),
    ],
)
def test_info(info, text):
    served = Served(Counter(1, info=info))
    with peer.agent(served.port) as agent:
        meet(agent)
        state = peer.fields(agent.recv())
        agent.send(peer.action(stop=True))
    served.outcome()
    wanted = b'{"rtt_us": 2.5, "flows": [1, 2], "who": "x"}' if text is None else text.encode()
    assert state.get(5, [b""]) == [wanted]


def test_no_observation():
    env = Counter(1)
    env.reset = lambda **_: (None, {})
    served = Served(env)
    with peer.agent(served.port) as agent:
        meet(agent)
        assert 1 not in peer.fields(agent.recv())
        agent.send(peer.action(stop=True))
    served.outcome()


# --- our two ends


def test_our_agent_drives_our_environment():
    actions = spaces.Dict({"rate": spaces.Box(0, 1, (2,), np.float32), "path": spaces.Discrete(4)})
    env = Counter(5, actions=actions)
    env.step = lambda action: Counter.step(env, np.append(action["rate"], action["path"]))
    served = Served(env, episodes=2)
    with RemoteSimulation(port=served.port, timeout=5) as ours:
        assert ours.action_space == actions
        for _ in range(2):
            assert ours.reset()[0].tolist() == [0, 0, 0]
            ends = [ours.step({"rate": np.array([0.5, 1]), "path": 3})[2] for _ in range(5)]
            assert ends == [False] * 4 + [True]
    assert served.outcome() == [Episode(5, 7.5, "terminated")] * 2
    assert env.taken[-1].tolist() == [0.5, 1, 3]
