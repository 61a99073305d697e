"""The agent's end against simulations that are written from the protocol's facts alone."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("zmq", reason="pyzmq is not installed")

sys.path.insert(0, str(Path(__file__).parent))  # ns3gym_peer

import ns3gym_peer as peer  # noqa: E402
from gymnasium import spaces  # noqa: E402

import lcca.gym_envs.registration  # noqa: E402, F401
from lcca.inputs.errors import InputError  # noqa: E402
from lcca.studies.ns3gym.remote import RemoteSimulation  # noqa: E402
from lcca.studies.ns3gym.schema import PeerLost, ProtocolError  # noqa: E402

PROGRAM = [sys.executable, peer.__file__, "--openGymPort={port}", "--simSeed={seed}"]
OBSERVATION = peer.box([1, 2, 3], peer.DOUBLE, (3,))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Talk:
    """A simulation in the background that says what it is told, and the environment that listens to it."""

    def __init__(self, *messages, introduction=None, hold=0.0, **options):
        self.port = free_port()
        self.messages, self.hold = messages, hold
        self.introduction = introduction or peer.introduction(peer.OBSERVATIONS, peer.ACTIONS)
        self.answers = peer.Background(self.talk)
        self.env = RemoteSimulation(port=self.port, **{"timeout": 5.0, "start_timeout": 5.0, **options})

    def talk(self):
        with peer.simulation(self.port) as ask:
            assert peer.fields(ask(self.introduction)) == {1: [1]}
            answers = [ask(message) for message in self.messages]
            time.sleep(self.hold)
            return answers


def play(steps, reason):
    """Run one episode of the peer's simulation; return the environment, its last step and how the peer saw it."""
    port = free_port()
    simulation = peer.Background(lambda: peer.play(port, steps, reason))
    env = RemoteSimulation(port=port, timeout=5)
    observation, info = env.reset()
    assert observation.tolist() == [0, 0, 0] and info == {"info": "step 0"}
    for step in range(1, steps + 1):
        taken = env.step(np.array([step, 2], np.uint32))
        observation, reward, terminated, truncated, _ = taken
        assert observation.tolist() == [0, step, step + 2]
        assert reward == 0.5 * (step + 2)
        assert (terminated or truncated) == (step == steps)
    return env, taken, simulation.outcome()


def test_a_thousand_steps_to_a_game_over():
    env, (_, _, terminated, truncated, info), seen = play(1000, peer.GAME_OVER)
    assert (terminated, truncated, info["info"], seen) == (True, False, "over", "over")
    with pytest.raises(InputError, match="call reset first"):
        env.step(env.action_space.sample())
    env.close()


def test_the_end_of_the_simulation_truncates():
    env, (_, _, terminated, truncated, _), seen = play(3, peer.END)
    assert (terminated, truncated, seen) == (False, True, "over")
    env.close()


def test_spaces():
    port = free_port()
    peer.Background(lambda: peer.play(port, 1))
    env = RemoteSimulation(port=port)
    assert env.observation_space == spaces.Box(-1e10, 1e10, (3,), np.float64)
    assert env.action_space == spaces.Box(0, 65535, (2,), np.uint32)
    env.close()


@pytest.mark.parametrize("end", ["stop", "close", "reset"])
def test_the_agent_stops_a_simulation(end):
    port = free_port()

    def two_simulations():
        return peer.play(port, 100), peer.play(port, 2) if end == "reset" else None

    simulations = peer.Background(two_simulations)
    env = RemoteSimulation(port=port, timeout=5)
    env.reset()
    for _ in range(7):
        env.step(np.array([1, 1]))
    getattr(env, end)()
    if end == "reset":
        env.step(np.array([1, 1]))
        assert env.step(np.array([1, 1]))[2]
    env.close()
    assert simulations.outcome() == ("stopped after 7", "over" if end == "reset" else None)


def test_what_a_former_simulation_still_says_is_answered_with_a_stop():
    port = free_port()

    def says_more_after_the_stop():
        with peer.simulation(port) as ask:
            ask(peer.introduction(peer.OBSERVATIONS, peer.ACTIONS))
            replies = [ask(peer.state(OBSERVATION)), ask(peer.state(OBSERVATION, 1.0, peer.END))]
        return replies, peer.play(port, 1)

    simulations = peer.Background(says_more_after_the_stop)
    env = RemoteSimulation(port=port, timeout=5)
    env.stop()
    env.reset()
    assert env.step([0, 0])[2]
    env.close()
    assert simulations.outcome() == ([peer.action(stop=True)] * 2, "over")


def test_an_introduction_of_a_simulation_that_is_gone_counts_for_nothing():
    port = free_port()
    with peer.simulation(port) as ask:
        gone = peer.Socket(peer.zmq.REQ, f"tcp://localhost:{port}")
        gone.socket.send(peer.introduction(peer.OBSERVATIONS, peer.ACTIONS))

        def another():
            time.sleep(0.3)
            gone.close()
            ask(peer.introduction(peer.OBSERVATIONS, peer.ACTIONS))
            return ask(peer.state(OBSERVATION))

        answer = peer.Background(another)
        env = RemoteSimulation(port=port, timeout=5)
        env.close()
        assert answer.outcome() == peer.action(stop=True)


def test_a_second_simulation_waits_for_its_turn():
    port = free_port()
    first = peer.Background(lambda: peer.play(port, 5))
    env = RemoteSimulation(port=port, timeout=5)
    second = peer.Background(lambda: peer.play(port, 2, seed=9))
    env.reset()
    for step in range(1, 6):
        time.sleep(0.05)
        observation, _, over, _, _ = env.step([step, 0])
        assert observation.tolist() == [0, step, step] and over == (step == 5)
    assert env.reset()[0].tolist() == [9, 0, 0]
    assert [env.step([1, 1])[2] for _ in range(2)] == [False, True]
    env.close()
    assert (first.outcome(), second.outcome()) == ("over", "over")


def test_over_before_the_first_action():
    talk = Talk(peer.state(OBSERVATION, 2.0, peer.GAME_OVER))
    assert talk.answers.outcome() == [peer.action(stop=True)]
    talk.env.reset()
    observation, reward, terminated, _, _ = talk.env.step([0, 0])
    assert (observation.tolist(), reward, terminated) == ([1, 2, 3], 2.0, True)
    talk.env.close()


# --- silence


def lost(call, within, match):
    began = time.monotonic()
    with pytest.raises(PeerLost, match=match):
        call()
    assert time.monotonic() - began < within


def test_nobody_comes():
    lost(lambda: RemoteSimulation(port=free_port(), start_timeout=0.3), 1.5, r"nothing came within 0\.3 s")


def test_the_time_that_an_error_names_is_what_was_allowed():
    port = free_port()

    def introduces_itself_late():
        time.sleep(0.5)
        with peer.simulation(port) as ask:
            ask(peer.introduction())
            time.sleep(0.5)

    peer.Background(introduces_itself_late)
    lost(lambda: RemoteSimulation(port=port, start_timeout=0.8), 1.5, r"within 0\.8 s")


def test_a_simulation_that_falls_silent():
    talk = Talk(peer.state(OBSERVATION), hold=1.5, timeout=0.4)
    lost(lambda: talk.env.step([0, 0]), 1.2, r"expected the next state at tcp://.*within 0\.4 s")
    with pytest.raises(InputError, match="call reset first"):
        talk.env.step([0, 0])
    talk.env.close()


def test_a_simulation_that_goes_away_is_noticed_before_the_timeout():
    talk = Talk(peer.state(OBSERVATION), timeout=60)
    lost(lambda: talk.env.step([0, 0]), 3, "closed the connection")
    talk.env.close()


def test_a_simulation_that_went_away_while_the_agent_thought():
    port = free_port()
    ask = peer.Socket(peer.zmq.REQ, f"tcp://localhost:{port}")
    peer.Background(lambda: (ask.ask(peer.introduction(peer.OBSERVATIONS)), ask.socket.send(peer.state(OBSERVATION))))
    env = RemoteSimulation(port=port, timeout=60)
    ask.close()
    time.sleep(0.2)
    lost(lambda: env.step(0), 3, "closed the connection")
    env.close()


def test_the_next_simulation_after_one_that_was_lost():
    talk = Talk(peer.state(OBSERVATION), timeout=60)
    lost(lambda: talk.env.step([0, 0]), 3, "closed")
    simulation = peer.Background(lambda: peer.play(talk.port, 1))
    talk.env.reset()
    assert talk.env.step([0, 0])[2]
    talk.env.close()
    assert simulation.outcome() == "over"


def test_a_slow_simulation_after_one_that_was_lost():
    """Its first message is there before anybody looks; what closed long ago says nothing of it."""
    talk = Talk(peer.state(OBSERVATION), timeout=60)
    lost(lambda: talk.env.step([0, 0]), 3, "closed")
    time.sleep(0.4)

    def slow():
        with peer.simulation(talk.port) as ask:
            ask(talk.introduction)
            time.sleep(0.5)
            return ask(peer.state(OBSERVATION))

    simulation = peer.Background(slow)
    time.sleep(0.3)
    assert talk.env.reset()[0].tolist() == [1, 2, 3]
    talk.env.close()
    simulation.outcome()


def test_an_interrupt_ends_the_episode_and_leaves_nothing_that_hangs(monkeypatch):
    talk = Talk(peer.state(OBSERVATION), hold=0.5)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(talk.env._channel, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            talk.env.step([0, 0])
    with pytest.raises(InputError, match="call reset first"):
        talk.env.step([0, 0])
    talk.env.close()


# --- simulations that we start


def test_a_simulation_for_each_episode():
    env = gymnasium.make("lcca/Ns3Gym-v0", command=[*PROGRAM, "--lives=3"], timeout=5)
    first, info = env.reset(seed=5)
    assert first[0] == info["seed"] and info["seed"] > 0
    assert [env.step(np.array([1, 1], np.uint32))[2] for _ in range(3)] == [False, False, True]
    second, _ = env.reset()
    assert second[0] != first[0]
    env.step(np.array([1, 1], np.uint32))
    again, _ = env.reset(seed=5)
    assert again[0] == first[0]
    env.close()


def test_the_same_seed_for_each_episode_if_so_told():
    with RemoteSimulation([*PROGRAM, "--lives=1"], seed=77) as env:
        seeds = []
        for _ in range(2):
            seeds.append(env.reset()[0][0])
            env.step([0, 0])
    assert seeds == [77, 77]


def test_a_simulation_that_ends_at_once_is_quoted():
    lost(lambda: RemoteSimulation([*PROGRAM, "--crash"]), 5, "ended with status 1: the topology has no nodes")


def test_a_simulation_that_never_speaks_is_ended():
    lost(lambda: RemoteSimulation([*PROGRAM, "--mute"], start_timeout=0.5), 5, r"within 0\.5 s")


def test_what_a_simulation_leaves_behind_is_ended():
    with RemoteSimulation(["sh", "-c", f"{' '.join(PROGRAM)}; sleep 61.5"], exit_timeout=0.1):
        pass
    assert not [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "61.5"]]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"command": ["/no/such/program"]}, "does not start"),
        ({"command": "./ns3 run x"}, "must be a list"),
        ({"seed": 0}, "seed must be"),
        ({"timeout": 0}, "timeout must be > 0"),
    ],
)
def test_bad_arguments(options, match):
    with pytest.raises(InputError, match=match):
        RemoteSimulation(**options)


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="cannot listen at"):
            RemoteSimulation(port=taken.getsockname()[1])


# --- what is malformed


BAD_INTRODUCTIONS = {
    "bytes that are none": (b"\xff\xff\xff", "that are none"),
    "a state": (peer.block(1, b"") + peer.block(2, b""), "expected SimInitMsg, got another message"),
    "many dimensions": (peer.introduction(peer.box_space(0, 1, peer.FLOAT, (1,) * 65)), "a box of 65 dimensions"),
    "many numbers": (
        peer.introduction(peer.group_space(peer.TUPLE, [peer.box_space(0, 1, peer.DOUBLE, (1 << 19,))] * 3)),
        r"observation space\[2\]: with a box of shape \(524288,\) more than 1048576 numbers",
    ),
    "many spaces": (
        peer.introduction(peer.group_space(peer.TUPLE, [peer.discrete_space(2)] * 1024)),
        "observation space: more than 1024 spaces",
    ),
    "many bytes": (
        peer.introduction(peer.discrete_space(2, "x" * (1 << 20))),
        "observation space: its description has more than 1048576 bytes",
    ),
    "bounds that cross": (peer.introduction(peer.box_space(2, 1, peer.FLOAT, (1,))), "observation space: bounds"),
}


@pytest.mark.parametrize("case", BAD_INTRODUCTIONS)
def test_malformed_introductions(case):
    message, match = BAD_INTRODUCTIONS[case]
    with pytest.raises(ProtocolError, match=match):
        Talk(peer.state(), introduction=message)


BAD_STATES = {
    "bytes that are none": (b"\xff\xff\xff", "that are none"),
    "an introduction": (peer.introduction(peer.OBSERVATIONS), "expected EnvStateMsg, got another message"),
    "too few numbers": (peer.state(peer.box([1], peer.DOUBLE)), "expected 3 numbers, got 1"),
    "another kind": (peer.state(peer.discrete(1)), "expected data of a box space, got discrete"),
    "an unknown kind": (peer.state(peer.number(1, 9)), "got kind 9"),
    "no name of the message": (peer.state(peer.number(1, peer.BOX)), "expected ns3opengym.BoxDataContainer, got ''"),
    "two kinds of numbers": (
        peer.state(peer.wrapped(peer.BOX, "DataContainer", peer.block(3, b"\1\1\1") + peer.block(4, b"\1\1\1"))),
        "numbers of 2 kinds",
    ),
}


@pytest.mark.parametrize("case", BAD_STATES)
def test_malformed_states(case):
    message, match = BAD_STATES[case]
    talk = Talk(peer.state(OBSERVATION), message)
    with pytest.raises(ProtocolError, match=match):
        talk.env.step([0, 0])
    assert talk.answers.outcome()[-1] == peer.action(stop=True)
    talk.env.close()


def test_a_message_of_two_parts():
    port = free_port()
    raw = peer.Socket(peer.zmq.REQ, f"tcp://localhost:{port}")
    raw.socket.send_multipart([b"", b""])
    with pytest.raises(ProtocolError, match="2 parts"):
        RemoteSimulation(port=port, start_timeout=5)
    raw.close()


def test_other_spaces_than_before():
    talk = Talk(peer.state(OBSERVATION, 0.0, peer.END))
    talk.answers.outcome()
    talk.env.reset()
    talk.env.step([0, 0])
    other = peer.introduction(peer.discrete_space(2), peer.ACTIONS)

    def another_simulation():
        with peer.simulation(talk.port) as ask:
            return ask(other) and ask(peer.state(peer.discrete(1)))

    simulation = peer.Background(another_simulation)
    with pytest.raises(ProtocolError, match="other spaces"):
        talk.env.reset()
    assert simulation.outcome() == peer.action(stop=True)
    talk.env.close()


@pytest.mark.parametrize("action", [[0], [0, -1], [0, 0.5], [0, 2**40], "x", [[1, 2], [3]]])
def test_a_bad_action_does_not_end_the_episode(action):
    talk = Talk(peer.state(OBSERVATION), peer.state(OBSERVATION, 0.0, peer.GAME_OVER))
    with pytest.raises(InputError, match=r"^action: "):
        talk.env.step(action)
    assert talk.env.step([0, 0])[2]
    talk.env.close()


# --- what is odd, and tolerated


def test_no_spaces_at_all():
    talk = Talk(
        peer.state(info=b"\xff"), peer.state(reward=1.0, reason=peer.GAME_OVER), introduction=peer.introduction()
    )
    assert talk.env.observation_space == talk.env.action_space == spaces.Discrete(1)
    observation, info = talk.env.reset()
    assert observation == 0 and info == {"info": "\ufffd"}
    assert talk.env.step(0)[:3] == (0, 1.0, True)
    talk.env.close()
    assert talk.answers.outcome() == [b"", peer.action(stop=True)]


def test_missing_observations():
    talk = Talk(peer.state(), peer.state(OBSERVATION), peer.state(), peer.state(reason=peer.END))
    seen = [talk.env.reset()[0], *(talk.env.step([0, 0])[0] for _ in range(3))]
    assert [o.tolist() for o in seen] == [[0, 0, 0], [1, 2, 3], [1, 2, 3], [1, 2, 3]]
    talk.env.close()


@pytest.mark.parametrize(("as_floats", "kind"), [(True, peer.FLOAT), (False, peer.DOUBLE)])
def test_actions_of_double_boxes(as_floats, kind):
    offered = peer.introduction(peer.OBSERVATIONS, peer.box_space(-1, 1, peer.DOUBLE, (2,)))
    talk = Talk(
        peer.state(OBSERVATION),
        peer.state(OBSERVATION, 0.0, peer.GAME_OVER),
        introduction=offered,
        doubles_as_floats=as_floats,
    )
    talk.env.step(np.array([0.5, -1.0]))
    talk.env.close()
    assert peer.value_of(peer.fields(talk.answers.outcome()[0])[1][0]) == (kind, [2], [0.5, -1.0])


ABANDONED = """
import faulthandler, gc
from lcca.studies.ns3gym.channel import Channel
faulthandler.dump_traceback_later(20, exit=True)
gc.disable()
ends = [Channel.bound("127.0.0.1", 0)]
ends += [ends, {"context": ends[0]._context}]
del ends
gc.collect()
"""


def test_a_channel_that_nobody_closed_is_collected_without_waiting():
    """ZeroMQ waits for the sockets of a context; garbage in a cycle is collected in any order."""
    assert subprocess.run([sys.executable, "-c", ABANDONED], timeout=60).returncode == 0
