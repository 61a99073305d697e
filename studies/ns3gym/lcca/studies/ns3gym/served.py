"""The simulation's end: any Gymnasium environment for ns3-gym agents."""

from __future__ import annotations

from lcca.inputs.extras import require_libraries

require_libraries({"zmq": "pyzmq", "gymnasium": "gymnasium"}, "both ends of ns3-gym", "ns3gym")

import contextlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Mapping  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from typing import Any, Literal  # noqa: E402

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
from gymnasium import spaces  # noqa: E402

from lcca.studies.ns3gym import schema  # noqa: E402
from lcca.studies.ns3gym.channel import Channel, Deadline  # noqa: E402
from lcca.studies.ns3gym.schema import ConnectionClosed, ProtocolError, Reason  # noqa: E402
from lcca.studies.ns3gym.values import AnySpace, clipped, decode, describe, encode, is_empty, neutral  # noqa: E402

_AGAIN = 0.05
"""How long to wait before meeting the agent again that closed its connection, in seconds."""


@dataclass(frozen=True)
class Episode:
    """What became of an episode.

    Attributes:
        steps: actions taken.
        reward: their sum, as the environment gave it.
        end: ``terminated`` or ``truncated`` by the environment; ``stopped`` or, before it began, ``declined`` by the
            agent.
    """

    steps: int
    reward: float
    end: Literal["terminated", "truncated", "stopped", "declined"]


def info_text(info: Mapping[str, Any]) -> str:
    """Return an environment's info as the protocol's one string: its only text, or JSON."""
    if set(info) == {"info"} and isinstance(info["info"], str):
        return info["info"]
    plain: Callable[[Any], Any] = lambda x: x.tolist() if isinstance(x, np.ndarray | np.generic) else str(x)  # noqa: E731
    return json.dumps(dict(info), default=plain, skipkeys=True) if info else ""


class ServedEnvironment:
    """Lets an ns3-gym agent drive an environment as if it were a simulation of ns-3.

    Each episode is a simulation of its own: a new connection and a new introduction, as ns3-gym's agents expect after
    their reset. ``terminated`` is a game over, ``truncated`` the end of the simulation. Actions of boxes are clipped to
    the bounds, because the protocol may have rounded or widened them; a missing action repeats the last one.

    Args:
        env: with spaces that are Box, Discrete, Tuple, Dict or made of those.
        port: where the agent listens.
        host: on which machine.
        timeout: how long the agent may take for an action, in seconds; agents learn between actions.
        start_timeout: how long it may take to answer the first introduction, in seconds; for later ones it may take
            the longer of both.
        text: makes the state's text of the environment's info.

    Raises:
        InputError: the protocol cannot express a space.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        port: int = 5555,
        host: str = "localhost",
        timeout: float = 600.0,
        start_timeout: float = 60.0,
        text: Callable[[Mapping[str, Any]], str] = info_text,
    ) -> None:
        self._env = env
        self._where = (host, port)
        self._timeout, self._start_timeout = timeout, start_timeout
        self._text = text
        process = os.getpid()  # agents may end both: never name a parent that is not ours
        self._introduction = schema.new(
            "SimInitMsg",
            simProcessId=process,
            wafShellProcessId=process,
            obsSpace=describe(env.observation_space, "observation space"),
            actSpace=describe(env.action_space, "action space"),
        )

    def run(self, episodes: int = 1, seed: int | None = None) -> list[Episode]:
        """Run episodes, one after the other; fewer where the agent declines one.

        Args:
            episodes: how many.
            seed: of the first reset; later ones go on from there.

        Raises:
            PeerLost: the agent said nothing in time, or closed its connection.
            ProtocolError: it said something that it may not say.
        """
        done: list[Episode] = []
        while len(done) < episodes and not (done and done[-1].end == "declined"):
            patience = max(self._timeout, self._start_timeout) if done else self._start_timeout
            done.append(self._episode(None if done else seed, patience))
        return done

    def _episode(self, seed: int | None, patience: float) -> Episode:
        channel, acknowledged = self._meet(patience)
        try:
            if acknowledged.stopSimReq:
                return Episode(0, 0.0, "declined")
            if not acknowledged.done:
                raise ProtocolError("the agent did not accept the introduction, and did not say stop either")
            return self._converse(channel, seed)
        finally:
            channel.close()

    def _meet(self, patience: float) -> tuple[Channel, Any]:
        """Introduce the environment until an agent answers.

        An agent that was about to end takes an introduction down with it: it is repeated to the next.
        """
        deadline = Deadline(patience)
        while True:
            channel = Channel.connected(*self._where)
            try:
                channel.send(self._introduction)
                answer = channel.receive(deadline, "an agent's answer to our introduction")
                return channel, schema.read("SimInitAck", answer)
            except ConnectionClosed:
                channel.close()
                time.sleep(_AGAIN)
            except BaseException:
                channel.close()
                raise

    def _converse(self, channel: Channel, seed: int | None) -> Episode:
        """Exchange states and actions until one end has enough."""
        observation, info = self._env.reset(seed=seed)
        state = self._state(observation, 0.0, info)
        action, steps, total = neutral(self._env.action_space), 0, 0.0
        while True:
            channel.send(state)
            answer = schema.read("EnvActMsg", channel.receive(Deadline(self._timeout), "the agent's next action"))
            if answer.stopSimReq:
                return Episode(steps, total, "stopped")
            if not is_empty(answer.actData):
                space = self._env.action_space
                action = within(space, decode(space, answer.actData, "action"), "action")
            observation, reward, terminated, truncated, info = self._env.step(action)
            steps, total = steps + 1, total + float(reward)
            state = self._state(observation, float(reward), info)
            if terminated or truncated:
                self._finish(channel, state, terminated)
                return Episode(steps, total, "terminated" if terminated else "truncated")

    def _state(self, observation: Any, reward: float, info: Mapping[str, Any]) -> Any:
        data = None if observation is None else encode(self._env.observation_space, observation, "observation")
        return schema.new("EnvStateMsg", obsData=data, reward=reward, info=self._text(info).encode())

    def _finish(self, channel: Channel, state: Any, terminated: bool) -> None:
        """Send the last state. The agent's answer to it says nothing, but its socket wants to be heard."""
        state.isGameOver = True
        state.reason = Reason.GAME_OVER if terminated else Reason.SIMULATION_END
        channel.send(state)
        with contextlib.suppress(ConnectionClosed):
            channel.receive(Deadline(self._timeout), "the agent's answer to the end")


def within(space: AnySpace, value: Any, where: str) -> Any:
    """Return a value with every box in it clipped to its bounds.

    Raises:
        ProtocolError: a box holds a NaN.
    """
    if isinstance(space, spaces.Box):
        if np.isnan(value).any():
            raise ProtocolError(f"{where}: not a number")
        return clipped(space, value)
    if isinstance(space, spaces.Tuple):
        parts = enumerate(zip(space.spaces, value, strict=True))
        return tuple(within(inner, part, f"{where}[{i}]") for i, (inner, part) in parts)
    if isinstance(space, spaces.Dict):
        return {key: within(inner, value[key], f"{where}[{key!r}]") for key, inner in space.spaces.items()}
    return value
