"""The packet engine and the evaluation of policies, in C++."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Layout:
    """
    Links (packets/µs, µs, packets), and the links on each sender's way and back.
    """

    def __init__(self, link_rate: Sequence[float], link_delay: Sequence[float], link_buffer: Sequence[float], forward: Sequence[Sequence[int]], backward: Sequence[Sequence[int]], measured: int, one_way: bool = False, stamps: Sequence[bool] = []) -> None: ...

    @property
    def senders(self) -> int: ...

    @property
    def measured(self) -> int: ...

class Network:
    """One bottleneck and its workload (packets, µs)."""

    def __init__(self, id: int, link_rate: float, rtt: float, senders: int, buffer: float, loss: float, workload: tuple, layout: Layout | None = None, jitter: float = 0.0) -> None:
        """
        `workload`: its name and numbers; see lcca.remy_plus.network.compile_workload.
        """

    @property
    def id(self) -> int: ...

    @property
    def senders(self) -> int: ...

def planned_flows(network: Network, seed: int, duration: float) -> dict:
    """
    The flows that a trial's senders have in store; see lcca.remy_plus.engine.
    """

def model_defaults() -> dict:
    """Options of the network model by name; see lcca.remy_plus.engine.Model."""

def dctcp_threshold(link_rate: float, rtt: float) -> float:
    """DCTCP's marking threshold K, packets."""

DCTCP_LAMBDA: float = 0.17

def uniforms(seed: int, network: int, component: int, sender: int, flow: int, count: int) -> list[float]:
    """The first draws on (0, 1] of one random stream."""

def chosen(seed: int, network: int, what: str, first: int, last: int, share: float) -> object:
    """
    Of those from `first` to before `last`, whether each is of a share (1) or not: of senders that adopt a policy (adoption), or of links and switches that write into headers (deployment).
    """

def portable_log(x: float) -> float:
    """Natural logarithm by basic arithmetic alone, for x in (0, 1]."""

def signal_table() -> list:
    """A row per signal in engine order; see lcca.remy_plus.core.signals."""

SIGNAL_CEILING: float = 163840.0

OWN_SIGNAL: int = 40

MOST_OWN_SIGNALS: int = 8

RCP_GAINS: tuple = (0.4, 1.0, 0.95, 0.0)

XCP_GAINS: tuple = (0.4, 0.226, 0.1, 0.0)

COUNT_BITS: int = 1024

RANK_BUCKETS: int = 15

RANK_CELL_BITS: int = 4

LAW_SOURCE: str = ...

FABRIC_LAW_SOURCE: str = ...

def fabric_form(signal: str) -> int:
    """
    Number of the form that a signal has as a feature of a law for fabrics (fabric_law.h).
    """

class Policy:
    """A policy compiled for the engine."""

    @staticmethod
    def rule_table(axes: Sequence[str], lower: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], increment: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], multiple: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], pacing: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], over: str, under: str, real: bool = False, own: list = []) -> Policy:
        """
        Rules as boxes over the named signals, their gaps in units of signal over / signal under ('1' for none), their windows real numbers or whole; raises ValueError if they overlap or leak. `own`: see lcca.remy_plus.core.formulas.
        """

    @staticmethod
    def fixed_window(window: float) -> Policy: ...

    @staticmethod
    def fixed_rate(rate: float) -> Policy: ...

    @staticmethod
    def aimd(increase: float, decrease: float, initial: float) -> Policy: ...

    @staticmethod
    def explicit_rate(over: str, under: str, factor: float, initial_gap: float) -> Policy: ...

    @staticmethod
    def xcp(initial: float, smallest: float) -> Policy: ...

    @staticmethod
    def mlp(agent: Agent, layers: Sequence[tuple[Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], str]], memory: tuple[Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None) -> Policy:
        """
        A trained network: layers of (weights, inputs × outputs; biases; activation), and perhaps an LSTM of (inputs × 4 cells; cells × 4 cells; biases) before them.
        """

    @staticmethod
    def law(terms: Sequence[float], map: Sequence[float], signals: Sequence[str], over: str, under: str, bound: float, largest: float, refresh: float, own: list = []) -> Policy:
        """
        A control law (law.h): its terms, three rows of coefficients of features or none, the signals whose features follow those of every law, and the rate that hops grant as signal over / signal under ('1' for none).
        """

    @staticmethod
    def fabric_law(terms: Sequence[float], map: Sequence[float], signals: Sequence[str]) -> Policy:
        """
        A control law for fabrics (fabric_law.h): its terms, a coefficient for each feature that all have and three for each of its signals.
        """

    @staticmethod
    def path_law(transport: str, terms: Sequence[float], signals: Sequence[str], weights: Sequence[float]) -> Policy:
        """
        A law that chooses ways over a transport (path_law.hpp): its terms, and a weight for each signal.
        """

    @staticmethod
    def python(control: object) -> Policy:
        """A class in Python; see lcca.remy_plus.policies.python_control."""

    @staticmethod
    def mixture(adopters: Policy, others: Policy, share: float) -> Policy:
        """
        Two policies in one trial: a share of the senders adopts the first; see lcca.remy_plus.policies.mixture.
        """

    def outputs(self, views: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], states: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[object, object]:
        """
        A network's outputs for (n, inputs) views and (n, 2 × cells) states, and the states afterwards.
        """

    def with_action(self, rule: int, increment: float, multiple: float, pacing: float) -> Policy:
        """
        The same table with another action for one rule; the compiled tree is shared.
        """

    def population(self, actions: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> list[Policy]:
        """
        Tables with other actions for all rules, one for each (rules, 3) part of (policies, rules, 3) increments, multiples and pacings; the compiled tree is shared.
        """

    def with_header(self, content: dict) -> Policy:
        """
        The same with a header on its packets: the content of a Stamping; ValueError names what is wrong with it.
        """

    def find(self, signals: Sequence[float]) -> int:
        """Index of the rule that holds these values (one per engine signal)."""

    def __getstate__(self) -> tuple: ...

    def __setstate__(self, arg: tuple, /) -> None: ...

    @property
    def rules(self) -> int: ...

def run_batch(policies: list, networks: Sequence[Network], policy_index: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], network_index: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, duration: float, model: dict, jobs: int, keep_delays: bool, keep_flows: bool, keep_rule_hits: bool, keep_links: bool, phase_round_trips: Sequence[float] = []) -> dict:
    """
    Runs one trial per entry of the index arrays on `jobs` threads, without the GIL; returns columns by name.
    """

def census(policy: object, networks: Sequence[Network], network_index: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, duration: float, model: dict, jobs: int, rule: int, axes: Sequence[str], prefix: Sequence[int]) -> object:
    """
    Counts, per axis, the upper (no prefix) or lower 16 bits of the float32 values met by one rule.
    """

def run_flow_trace(policy: object, network: Network, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arrival: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, duration: float, model: dict, jobs: int) -> object:
    """
    Runs trials with these open flows (times in µs, sizes in packets; those of trial i begin at `begin[i]`) and returns the time from each flow's arrival to that of its last packet; NaN if it never came.
    """

def trace(policy: object, network: Network, seed: int, *, duration: float, model: dict, script: Sequence[Sequence[float]]) -> dict:
    """
    One trial with a row per feedback. `script`: switch times (on, off, on, …) per sender, or [] for random ones. Senders that are not measured show in no row; a script for the measured ones alone leaves the others off.
    """

def look_ups(policy: object, networks: Sequence[Network], seed: int, *, duration: float, model: dict, axes: Sequence[str], every: int) -> tuple:
    """
    One trial of a rule table on each network: (n,) rules, and (n, axes) what they saw in single precision, of one in `every` look-ups at feedback of current flows.
    """

def steering_defaults(kind: str) -> dict:
    """
    Numbers of window, rate, table or law steering; see lcca.remy_plus.policies.agents.
    """

class Agent:
    """
    How a network sees and steers a flow; see lcca.remy_plus.policies.agents.
    """

    def __init__(self, *, signals: Sequence[str], history: int, rtts: float, smallest_rtt: bool, late: bool, steering: str, multiple: float, increment: float, pacing: float, initial: float, smallest: float, largest: float, table: Sequence[tuple[float, float, float]], law: object | None = None) -> None: ...

    @property
    def inputs(self) -> int:
        """Numbers that it sees."""

    @property
    def numbers(self) -> int:
        """Numbers of an action."""

    def see(self, signals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> object:
        """
        What it sees of (n, engine signals) raw signals, without history: (n, signals).
        """

    def steer(self, window: float, gap: float, receive_interval: float, action: Sequence[float]) -> tuple[float, float]:
        """Window (packets) and gap (µs) after an action."""

class Reward:
    """What a step is worth; see lcca.gym_envs.interface.episode."""

    def __init__(self, kind: str, *, throughput_weight: float, delay_weight: float, interval: float, aurora_second: float) -> None: ...

class AgentSlots:
    """
    Many environments, stepped by threads without the GIL; see lcca.gym_envs.batch.agent_slots.
    """

    def __init__(self, agent: Agent, reward: Reward, others: object | None, *, duration: float, model: dict, patience: float, slots: Sequence[int], all_senders: bool, whole_rows: bool, endless: bool, keep_records: bool, jobs: int, header: object | None = None) -> None: ...

    def set_networks(self, networks: Sequence[Network], base_delay: Sequence[float]) -> None: ...

    def reset(self, seed: int) -> None: ...

    def start(self, environment: int, network: int, seed: int) -> None: ...

    def stop(self, environment: int) -> None: ...

    def step(self, actions: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """
        Acts for the ready slots, and plays on; the arrays below are overwritten.
        """

    @property
    def slots(self) -> int: ...

    @property
    def environments(self) -> int: ...

    @property
    def observation(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)]: ...

    @property
    def last_observation(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)]: ...

    @property
    def reward(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), writable=False)]: ...

    @property
    def elapsed(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), writable=False)]: ...

    @property
    def rivals(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    @property
    def ended(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]: ...

    @property
    def acting(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]: ...

    @property
    def ready(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    @property
    def network(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    @property
    def trial_seed(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), writable=False)]: ...

    @property
    def trials(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), writable=False)]: ...

    @property
    def packets(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), writable=False)]: ...

    @property
    def over(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]: ...

    def now(self, environment: int) -> float:
        """µs since the start of the environment's trial."""

    def signals(self, slots: Sequence[int]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """Raw signals of some slots, (n, engine signals)."""

    def control(self, slot: int) -> tuple[float, float, int]:
        """Window (packets), gap (µs) and packets sent of a slot."""

    def record(self, environment: int) -> dict:
        """Flows of the latest trial that came to its end, by column."""

class Rollouts:
    """
    Decisions of a network with noise, and their outcomes; see remy_plus/envs.
    """

    def __init__(self, slots: AgentSlots, privileges: Sequence[float], seed: int) -> None: ...

    def begin(self) -> None:
        """Forget the rows so far; decisions without an outcome wait for it."""

    def play(self, rows: int, actor: object, deviations: Sequence[float]) -> None:
        """
        Play on until there are so many rows since begin(); without deviations an entry of a table is drawn.
        """

    def experience(self, latest: bool = False) -> dict:
        """
        Columns of all rows since begin(), or of those of the latest play() without `next` and `after`.
        """

def advantages(surprise: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], goes_on: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], next: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object:
    """
    Each row's surprise, and the discounted advantage of the row `next` (< 0: none) on top of it.
    """

def encode(coding: dict, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], draws: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object:
    """
    The codes of numbers, as hops write them: the content of a Coding, and a draw on [0, 1) for each number.
    """

def decode(coding: dict, codes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object:
    """The numbers of codes, as senders read them."""

def formula_value(tokens: list, sources: Sequence[float], fields: Sequence[float]) -> float:
    """
    The value of a formula in postfix order; sources in the order of SOURCE_NAMES.
    """

SOURCE_NAMES: list = ...

class FabricAgents:
    """Flows that an agent steers beside others; see lcca.gym_envs.fabric."""

    def __init__(self, others: object, *, agent: Agent, reward: Reward, decide: object, slots: int, patience_us: float, flows: Sequence[int], looks_at_hops: bool, header: object | None = None) -> None: ...

def transport_parameters() -> dict: ...

def run_fabric(hosts: int, switches: int, a: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gbps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], delay_ns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], src: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], dst: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], size_bytes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], start_ns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], transport: object, parameters: dict, settings: dict, marker: str, marker_parameters: dict, paths: Sequence[Sequence[int]], ack_paths: Sequence[Sequence[int]], watch_every_ns: float = 0.0, watch_flows: Sequence[int] = [], watch_ports: Sequence[int] = [], priority: Sequence[int] = [], after: Sequence[int] = [], off_ns: Sequence[float] = [], sets: Sequence[tuple[Sequence[int], Sequence[int]]] = [], pair: Sequence[int] = [], control: object | None = None, sketch_buckets: int = 0, sketch_counters: int = 0, sketch_ostracism: float = 8.0, sketch_one_in: int = 0, changes: Sequence[tuple[float, int, float, int]] = [], convergence_ns: float = 0.0, silent: Sequence[int] = [], threads: int = 1, least_packets: int = 500, keep_rounds: bool = False) -> dict:
    """Run flows over a fabric; see lcca.remy_plus.fabric."""

def fluid_ends(links: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], start_ns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bits: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gbps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], horizon_ns: float, sharing: int = 0) -> object:
    """
    When fluids have been sent that share links as the number says (remy_plus::fabric::Sharing), ns; infinite where that is after the horizon.
    """

def nscc_windows(parameters: dict, gbps: float, base_rtt_ns: float, payload: int, overhead: int, trims: bool, now_ns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], under_way: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], marked: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], rtt_ns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], trimmed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> dict:
    """
    Windows of a sender of NSCC after each of these ACKs (rtt_ns below 0: not known) and trimmed packets (trimmed 1, at the last hop 2; rtt_ns since it was sent).
    """

def answer_shares(entropy: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], nack: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], marked: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], now_ns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], span_ns: float) -> tuple:
    """
    Signals trims and marked_ways of a sender after each of these answers to packets.
    """

def ways_chosen(policy: object, entropies: int, key: int, base_rtt_ns: float, echo: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], entropy: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], now_ns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sent_ns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], delay: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], forms: Sequence[Sequence[float]]) -> list[int]:
    """
    Entropies that a law of ways chooses: packets (echo below 0) and answers (0 to 3: good, marked, trimmed, timed out), one after the other.
    """

AS_BUILT: float = -1.0

FABRIC_MOST_PORTS: int = 65535

FABRIC_MOST_PORTS_OF_NODE: int = 4095

FABRIC_MOST_TELEMETRY_BYTES: int = 42

FABRIC_SENT_TIME_BYTES: int = 8

def fabric_telemetry_bytes(transport: object, parameters: dict) -> int:
    """
    Bytes that a transport's data packets have beyond payload and overhead.
    """

def require_fabric_marker(kind: str, parameters: dict) -> None:
    """
    Raise ValueError as `parameter: what it must be` where a marker cannot be.
    """
