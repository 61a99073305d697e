"""The agent's end: any ns3-gym simulation as a Gymnasium environment."""

from __future__ import annotations

from lcca.inputs.extras import require_libraries

require_libraries({"zmq": "pyzmq", "gymnasium": "gymnasium"}, "both ends of ns3-gym", "ns3gym")

import os  # noqa: E402
import re  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from typing import Any  # noqa: E402

import gymnasium  # noqa: E402

from lcca.inputs.errors import InputError  # noqa: E402
from lcca.studies.ns3gym import schema  # noqa: E402
from lcca.studies.ns3gym.channel import Channel, Deadline  # noqa: E402
from lcca.studies.ns3gym.schema import PeerLost, ProtocolError, Reason  # noqa: E402
from lcca.studies.ns3gym.values import AnySpace, decode, encode, is_empty, neutral, read_space  # noqa: E402
from lcca.workers.child import Child  # noqa: E402

DEFAULT_PORT = 5555
"""Where ns3-gym's simulations look for their agent by default."""

_NOTHING = gymnasium.spaces.Discrete(1)
_MAX_SEED = 2**31 - 1

_FAILED = 1.0
"""How long a simulation may take to end after an error, in seconds."""


class RemoteSimulation(gymnasium.Env[Any, Any]):
    """Drives an ns3-gym simulation; one simulation is one episode.

    Making it waits for the first simulation, whose introduction has the spaces. A simulation without an observation or
    an action space has ``Discrete(1)`` in its place. A state without an observation repeats the last one.
    ``info["info"]`` is the simulation's text, ``info["seed"]`` the seed that it was started with. A game over is
    ``terminated``, the end of the simulated time ``truncated``.

    Args:
        command: starts a simulation, once for each episode: program and arguments in which ``{port}`` and ``{seed}``
            are replaced, such as ``["./ns3", "run", "my-sim --openGymPort={port} --simSeed={seed}"]``. Without one,
            somebody else starts a simulation for each episode (agent-only mode).
        port: where to listen. Default: with a command a free port, otherwise 5555.
        host: the network interface to listen at; ``"*"`` lets simulations of other machines connect.
        seed: each episode's seed, 1 to 2^31 − 1. Default: drawn anew for each from what ``reset(seed=...)`` sets.
        timeout: how long the simulation may take from an action to the next state, in seconds.
        start_timeout: how long it may take to say its spaces, in seconds. Starting may compile it.
        exit_timeout: how long a started simulation may write its results after the episode before it is ended, in
            seconds.
        folder: where the command runs.
        doubles_as_floats: send actions of double boxes as floats. ns3-gym's own agent always does so, and simulations
            written with it rely on it.

    Raises:
        InputError: a bad argument, or the command or the port does not work.
        PeerLost: no simulation came.
        ProtocolError: what came is no simulation of this protocol.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (declared so by Gymnasium)

    def __init__(
        self,
        command: Sequence[str] | None = None,
        *,
        port: int | None = None,
        host: str = "127.0.0.1",
        seed: int | None = None,
        timeout: float = 60.0,
        start_timeout: float = 300.0,
        exit_timeout: float = 30.0,
        folder: str | os.PathLike[str] | None = None,
        doubles_as_floats: bool = True,
    ) -> None:
        _check(command, seed, {"timeout": timeout, "start_timeout": start_timeout})
        self._command = command
        self._where = (host, (0 if command else DEFAULT_PORT) if port is None else port)
        self._seed = seed
        self._timeout, self._start_timeout, self._exit_timeout = timeout, start_timeout, exit_timeout
        self._folder = folder
        self._doubles_as_floats = doubles_as_floats
        self._channel: Channel | None = None
        self._process: Child | None = None
        self._introduced: dict[bytes, Any] = {}  # by peer: simulations that have not sent a state yet
        self._spaces: tuple[AnySpace | None, AnySpace | None] | None = None
        self._state: Any = None  # the episode's last state; None where there is no episode
        self._fresh = False  # no step since the episode began
        self._observation: Any = None
        self._info: dict[str, Any] = {}
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    @property
    def port(self) -> int:
        """Where the simulation finds us."""
        return self._channel.port if self._channel else self._where[1]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode: stop the simulation that runs, and wait for the next.

        The first reset takes the simulation whose spaces were read, unless it was started with another seed.

        Args:
            seed: sets the generator of the episodes' seeds. In agent-only mode simulations get their seeds elsewhere.
            options: not used.
        """
        super().reset(seed=seed)
        seed_matters = seed is not None and self._command is not None and self._seed is None
        if not self._fresh or seed_matters:
            self.stop()
            self._begin()
        return self._observation, dict(self._info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Send an action and wait for the next state.

        Raises:
            InputError: the episode is over; or the action is not one of the action space, and the episode goes on.
            PeerLost: the simulation said nothing in time, or is gone.
            ProtocolError: it said something that it may not say.
        """
        if self._state is None or (self._state.isGameOver and not self._fresh):
            raise InputError("step: the episode is over; call reset first")
        if not self._state.isGameOver:  # else it was over before the first action
            space = self._spaces[1] if self._spaces else None  # without an action space nothing travels
            self._exchange(None if space is None else encode(space, action, "action", self._doubles_as_floats))
        self._fresh = False
        over = self._state.isGameOver
        terminated = over and self._state.reason == Reason.GAME_OVER
        return self._observation, self._state.reward, terminated, over and not terminated, dict(self._info)

    def stop(self) -> None:
        """Tell the simulation to stop in place of an action, and end the episode; harmless where none runs."""
        if self._state is not None and not self._state.isGameOver:
            self._reply_stop()
        self._leave(self._exit_timeout)

    def close(self) -> None:
        """Stop the simulation and stop listening."""
        self.stop()
        if self._channel:
            self._channel.close()
        self._channel = None

    def _begin(self) -> None:
        """Start a simulation or wait for one, take its spaces and its first state."""
        if self._channel is None:
            self._channel = Channel.bound(*self._where)
        seed = self._seed or int(self.np_random.integers(1, _MAX_SEED, endpoint=True))
        self._info = {"seed": seed} if self._command else {}
        try:
            if self._command:
                words = {"{port}": str(self._channel.port), "{seed}": str(seed)}
                pattern = re.compile("|".join(map(re.escape, words)))
                command = [pattern.sub(lambda match: words[match[0]], word) for word in self._command]
                self._process = Child("the simulation", command, self._folder)
            introduction, state = self._meet()
            self._take_spaces(introduction)
            self._take(state)
        except BaseException as error:
            self._fail(error)
            raise
        self._fresh = True

    def _meet(self) -> tuple[Any, Any]:
        """Return the introduction and the first state of the simulation whose first state comes first.

        What a former simulation still had to say is answered with a stop. Others that introduced themselves wait for
        the next episodes.
        """
        assert self._channel is not None
        deadline, met = Deadline(self._start_timeout), False
        while True:
            data = self._receive(deadline, "a simulation's first message", stay_connected=met, only=None)
            introduction = self._introduced.pop(self._channel.peer, None)
            state, offered = _as("EnvStateMsg", data), _as("SimInitMsg", data)
            if introduction is not None and state is not None:
                return introduction, state
            if offered is not None:
                self._introduced[self._channel.peer], met = offered, True
                self._send("SimInitAck", done=True)
            elif state is not None:
                self._reply_stop()
            else:
                schema.read("SimInitMsg" if introduction is None else "EnvStateMsg", data)  # says what is wrong

    def _take_spaces(self, introduction: Any) -> None:
        found = (
            read_space(introduction.obsSpace, "observation space"),
            read_space(introduction.actSpace, "action space"),
        )
        if self._spaces is None:
            self._spaces = found
            self.observation_space, self.action_space = found[0] or _NOTHING, found[1] or _NOTHING
        elif self._spaces != found:
            raise ProtocolError(f"this simulation has other spaces than the one before: {found}, not {self._spaces}")

    def _exchange(self, action: Any) -> None:
        """Send an action, take the next state."""
        try:
            self._send("EnvActMsg", actData=action)
            assert self._channel is not None
            data = self._receive(Deadline(self._timeout), "the next state", only=self._channel.peer)
            self._take(schema.read("EnvStateMsg", data))
        except BaseException as error:
            self._fail(error)
            raise

    def _take(self, state: Any) -> None:
        """Keep a state; answer at once where it is the last."""
        assert self._spaces is not None
        space = self._spaces[0]
        if space is not None and not is_empty(state.obsData):
            self._observation = decode(space, state.obsData, "observation")
        elif self._observation is None or self._state is None:
            self._observation = neutral(self.observation_space)
        self._info["info"] = state.info.decode(errors="replace")
        if state.isGameOver:
            self._reply_stop()
        self._state = state

    def _send(self, kind: str, **fields: Any) -> None:
        assert self._channel is not None
        self._channel.send(schema.new(kind, **fields))

    def _reply_stop(self) -> None:
        """Ask for the end if the simulation waits for us; as an answer to an introduction it is the same bytes."""
        if self._channel and self._channel.may_send:
            self._send("EnvActMsg", stopSimReq=True)

    def _receive(self, deadline: Deadline, awaited: str, stay_connected: bool = True, *, only: bytes | None) -> bytes:
        assert self._channel is not None
        ended = self._process.ended if self._process else (lambda: None)
        return self._channel.receive(deadline, awaited, ended, stay_connected, only)

    def _fail(self, error: BaseException) -> None:
        """End an episode that went wrong, without leaving a simulation that waits."""
        self._reply_stop()
        self._leave(0.0 if isinstance(error, PeerLost) else _FAILED)

    def _leave(self, patience: float) -> None:
        """Forget the episode; a simulation that we started ends, and its channel with it."""
        self._state, self._fresh = None, False
        if self._process:
            self._process.end(patience)
            self._process = None
        if self._command and self._channel:
            self._channel.close()
            self._channel = None
            self._introduced.clear()


def _as(kind: str, data: bytes) -> Any:
    """Return the message, or None where the bytes are not it."""
    try:
        return schema.read(kind, data)
    except ProtocolError:
        return None


def _check(command: Sequence[str] | None, seed: int | None, seconds: dict[str, float]) -> None:
    if isinstance(command, str) or (command is not None and not command):
        raise InputError(f"command must be a list of program and arguments, got {command!r}")
    if seed is not None and not 1 <= seed <= _MAX_SEED:
        raise InputError(f"seed must be from 1 to {_MAX_SEED}, got {seed}")
    for name, value in seconds.items():
        if not value > 0:
            raise InputError(f"{name} must be > 0 seconds, got {value}")
