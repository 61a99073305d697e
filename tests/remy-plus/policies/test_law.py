"""Control laws: against formulas written down a second time, as exported C to the bit, and by theory."""

from __future__ import annotations

import ctypes
import json
import math
import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import QUANTITIES
from lcca.remy_plus.engine import Model
from lcca.remy_plus.files.lawc import c_source
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, loads
from lcca.remy_plus.files.text import describe
from lcca.remy_plus.network import Network, compile_network
from lcca.remy_plus.policies.law import FEATURES, OWN, TERMS, Law
from lcca.remy_plus.policies.policy import WithHeader, compile_policy, seen
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping
from lcca.signal_sets.registry import SIGNALS

PLAIN = {"window": 3, "gap": -1, "increase": -1, "boost": 3, "boost_time": 1.5, "boost_queue": -20, "decrease": 0.5}
PLAIN |= {"slow_share": 0.3, "pace": -0.15}
RICH = PLAIN | {"boost_queue": 0.5, "recovery": 0.6, "recovery_power": 1.2, "decrease_young": 0.2, "trend": 0.7}
RICH |= {"pace_queue": 0.1, "jump": 0.4, "jump_gap": -0.5, "jump_queue": -0.2, "increase_window": 0.6}
RICH |= {"decrease_window": 0.15, "pull": 0.3, "target": 0.1, "pace_target": 0.4}
NETWORK = Network(id=1, senders=4, rtt=25.0, link_rate=3.0, buffer=150, mean_on=3000.0, mean_off=400.0, loss=0.001)


def rich(**others: Any) -> Law:
    """A law that uses every term and every feature."""
    numbers = np.random.default_rng(7).uniform(-0.3, 0.3, (len(FEATURES) + len(others.get("inputs", ())), 3))
    names = [*FEATURES, *others.get("inputs", ())]
    return Law.of(RICH, dict(zip(names, numbers.tolist(), strict=True)), **others)


def traced(law: Law, network: Network = NETWORK, duration: float = 10_000.0) -> dict[str, np.ndarray[Any, Any]]:
    return _core.trace(
        compile_policy(law), compile_network(network), 11, script=[], duration=duration, model=Model().parts()
    )


# --- the same bits in C


class State(ctypes.Structure):
    _fields_ = [
        ("history", ctypes.c_double * 13),
        ("flow", ctypes.c_double * 12),
        ("flow_acks", ctypes.c_longlong),
        ("acks", ctypes.c_int),
    ]


def compiled_c(law: Law, folder: Path) -> ctypes.CDLL:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    (folder / "law.c").write_text(c_source(law))
    warned = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    command = ["gcc", "-std=c99", "-O2", "-ffp-contract=off", *warned, "-shared", "-fPIC", "law.c", "-o", "law.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "law.so"))


@pytest.mark.parametrize(
    "law",
    [
        Law.of(PLAIN),
        rich(),
        rich(inputs=("link", "queue", "loss", "rtt_ratio", "send_ratio")),
        rich(rate="1/flows", inputs=("flows",)),
        rich(rate="capacity/flows", inputs=("capacity",)),
        rich(rate="fair_rate"),
    ],
    ids=["plain", "rich", "signals", "share", "ratio", "fair rate"],
)
def test_exported_c_has_the_bits_of_the_engine(law: Law, tmp_path: Path) -> None:
    """Every ACK of a trial again in C: windows and gaps are equal to the last bit."""
    library, rows = compiled_c(law, tmp_path), traced(law, duration=3000.0)
    library.law_prepare()
    flows = rows["flow"].astype(int) + 100_000 * rows["sender"].astype(int)
    states: dict[int, State] = {}
    checked = 0
    for i in np.flatnonzero(rows["current"]):
        state = states.get(flows[i])
        if state is None:
            state = states[flows[i]] = State()
            library.law_start(ctypes.byref(state))
        values = (ctypes.c_double * max(1, len(law.signals)))(*(rows[name][i] for name in law.signals))
        now, sent = ctypes.c_double(rows["now_us"][i]), ctypes.c_double(rows["sent_us"][i])
        library.law_ack(ctypes.byref(state), now, sent, values)
        assert (state.flow[0], state.flow[1]) == (rows["window_packets"][i], rows["gap_us"][i]), i
        checked += 1
    assert checked > 5000 and len(states) > 4


# --- a second implementation


def again(law: Law, rows: dict[str, np.ndarray[Any, Any]]) -> float:
    """Go through a trial by the formulas of the documentation; return the largest relative difference of windows.

    The engine's window before each ACK is taken from the trial, so that differences do not add up.
    """
    p, worst = law.named_terms, 0.0
    window: dict[int, float] = {}
    memory: dict[int, dict[str, float]] = {}
    for i in np.flatnonzero(rows["current"]):
        at, now, sent = int(rows["sender"][i]) * 100_000 + int(rows["flow"][i]), rows["now_us"][i], rows["sent_us"][i]
        m = memory.get(at)
        if m is None:
            m = {"base": now - sent, "q": 0.0, "slow": 0.0, "o2": 0.0, "o8": 0.0, "share": 0.5, "small": 0.0}
            m |= {"g8": 0.0, "g64": 0.0, "began": sent, "queue_at": sent, "acks": 1.0, "first": now}
            memory[at], window[at] = m, 2 ** p["window"]
        else:
            gap = now - m["last"]
            m["base"] = min(m["base"], now - sent)
            m["q"], m["acks"] = now - sent - m["base"], m["acks"] + 1
            counted = max(gap, m["base"] / 2048)
            if m["small"] == 0:
                m["small"] = m["g8"] = m["g64"] = counted
                m["o2"] = m["o8"] = m["q"]
            m["small"] = min(m["small"], counted)
            m["g8"] += (gap - m["g8"]) / 8
            m["g64"] += (gap - m["g64"]) / 64
            m["slow"] += (m["q"] - m["slow"]) / 128
            m["o2"] += min(1, gap / 2 / m["base"]) * (m["q"] - m["o2"])
            m["o8"] += min(1, gap / 8 / m["base"]) * (m["q"] - m["o8"])
            queued = m["q"] > m["small"] / 8
            m["share"] += min(0.25, gap / 2 / m["base"]) * (queued - m["share"])
            m["queue_at"] = now if queued else m["queue_at"]
        m["last"] = now
        new = moved(law, p, m, window[at], now, {name: rows[name][i] for name in law.signals})
        worst = max(worst, abs(new / rows["window_packets"][i] - 1))
        window[at] = rows["window_packets"][i]
    return worst


def moved(law: Law, p: dict[str, float], m: dict[str, float], w: float, now: float, seen: dict[str, float]) -> float:
    base, q, age = m["base"], m["q"], (now - m["began"]) / m["base"]
    idle, per = (now - m["queue_at"]) / base, 1 / m["small"] if m["small"] else 0.0
    closest = min(1, m["small"] / m["g8"]) if m["g8"] else 0.0
    x = [(math.log2(w) - 4) / 2]
    x += [math.log2(1 + each * per) / 2 - 0.5 for each in (q, m["o2"], m["o8"])]
    x += [math.log2(1 + 16 * closest) / 2 - 1.5, 1 / (1 + age / 2), 1 / (1 + age / 16), 2 * m["share"] - 1]
    x += [math.log2(1 + idle) / 2, math.log2(1 + (m["g8"] / m["g64"] if m["g64"] else 0)) - 1, (q - m["o2"]) * per / 4]
    x += [form(name, seen[name]) for name in law.inputs]
    n = np.zeros(3)
    if law.features:
        n = np.clip(np.clip(x, -2, 2) @ np.array(law.features), -law.bound, law.bound)
    boost = 2 ** (p["boost"] - age / 2 ** p["boost_time"]) / (1 + 2 ** p["boost_queue"] * 8 * q / base)
    free = min(max(idle - 1, 0), 16)
    up = 2 ** (p["increase"] - p["increase_window"] * math.log2(w) + n[0])
    up_jumped = 1 + boost + (p["recovery"] * free ** p["recovery_power"] if free else 0)
    down = 2 ** (p["decrease"] + p["decrease_window"] * math.log2(w) + p["decrease_young"] / (1 + age / 8) + n[1])
    down *= ((1 - p["slow_share"]) * q + p["slow_share"] * m["slow"]) / base
    down += p["trend"] * max(0, q - m["o2"]) / base
    if m["acks"] == int(2 ** p["window"]) and m["acks"] > 1 and age < 8:
        spread = (now - m["first"]) / (m["acks"] - 1)
        jump = p["jump"] + p["jump_gap"] * max(0, math.log2(spread) - p["gap"]) + p["jump_queue"] * 8 * q / base
        w *= 2 ** min(max(jump, -1), 5)
    w += min(max(up * up_jumped - down, -1), 1)
    if law.rate is not None:
        rate = {"fair_rate": seen.get("fair_rate", 0), "capacity/flows": 0, "1/flows": 0}[law.rate]
        if law.rate == "capacity/flows" and seen["flows"]:
            rate = seen["capacity"] / seen["flows"]
        if law.rate == "1/flows" and seen["flows"]:
            rate = per / seen["flows"]
        if rate > 0:
            w += p["pull"] * (2 ** p["target"] * rate * base - w)
    return min(max(w, 1), law.largest_window)


def form(name: str, value: float) -> float:
    """The form of a signal as the reference says."""
    found = QUANTITIES[name]
    forms = {
        "excess": lambda: math.log2(1 + 64 * max(0, value - 1)) / 2 - 0.5,
        "ratio": lambda: math.log2(1 + value) - 1,
        "utilisation": lambda: 8 * (value - 0.9),
        "rare": lambda: math.log2(1 + 63 * value) / 3 - 1,
        "even": lambda: 2 * value - 1,
        "level": lambda: 2 * math.log2(1 + value / found.scale_unit) / found.scale_divisor - 0.5,
    }
    return min(max(forms[found.form](), -2), 2)


@pytest.mark.parametrize(
    "law",
    [
        Law.of(PLAIN, refresh=0),
        rich(refresh=0),
        rich(refresh=0, bound=0.1, inputs=("link", "loss", "one_way_ratio", "slow_receive_ratio", "queue")),
        rich(refresh=0, rate="1/flows"),
        rich(refresh=0, rate="capacity/flows"),
        rich(refresh=0, rate="fair_rate"),
    ],
)
def test_a_second_implementation_agrees(law: Law) -> None:
    """The engine's logarithms and powers are good to single precision."""
    assert again(law, traced(law, duration=2000.0)) < 1e-6


def test_a_window_settles_where_up_equals_down() -> None:
    """One sender that never stops: increase = decrease · queueing / RTT, and the link stays busy."""
    law = Law.of({"increase": -3, "increase_window": 0, "decrease": 0, "pace": -8}, largest_window=2000)
    network = Network(id=1, senders=1, rtt=25.0, link_rate=3.0, buffer=float("inf"), mean_on=1e9, mean_off=1.0, loss=0)
    rows = traced(law, network, 20_000.0)
    queueing = rows["now_us"] - rows["sent_us"] - (rows["now_us"] - rows["sent_us"]).min()
    assert np.mean(queueing[-20_000:]) / 25.0 == pytest.approx(2**-3, rel=0.05)
    assert np.mean(rows["window_packets"][-20_000:]) == pytest.approx(3.0 * 25.0 * (1 + 2**-3), rel=0.05)


# --- files and copies


def test_files_and_copies_are_the_same() -> None:
    law = rich(inputs=("link", "queue"), rate="capacity/flows", bound=1.5, largest_window=500, refresh=0.25)
    text = dumps(PolicyFile(law))
    assert loads(text).policy == law and dumps(loads(text)) == text
    assert law.signals == ("link", "queue", "capacity", "flows") == seen(law)
    copy = pickle.loads(pickle.dumps(compile_policy(law)))
    trial = {"script": [], "duration": 1000.0, "model": Model().parts()}
    one, two = (_core.trace(each, compile_network(NETWORK), 3, **trial) for each in (compile_policy(law), copy))
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_coefficients_that_are_zero_change_nothing() -> None:
    """So a set with more signals begins as good as one with fewer."""
    plain = traced(Law.of(RICH), duration=1000.0)
    more = traced(Law.of(RICH, {"link": (0, 0, 0)}, inputs=("link", "flows")), duration=1000.0)
    assert np.array_equal(plain["window_packets"], more["window_packets"])


def test_what_people_read_has_every_number_in_use() -> None:
    text = describe(PolicyFile(rich(inputs=("link",), rate="fair_rate")))
    for word in (*TERMS, *FEATURES, "link", "up", "down", "gap", "fair_rate", "RTT"):
        assert word in text
    assert "control law" in text and max(map(len, text.splitlines())) < 140


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["terms"].update(windw=1), "terms: unknown name 'windw' (did you mean 'window'"),
        (lambda d: d["features"].update(link=[0, 0, 0]), "features: unknown name 'link'"),
        (lambda d: d.update(rate="relative"), "rate: 'relative' is no signal or ratio of two"),
        (lambda d: d.update(inputs=["lnk"]), "unknown signal 'lnk'"),
        (lambda d: d.update(signals=["link"]), "signals: the numbers look at none; list these, or none at all"),
        (lambda d: d.update(refresh=3), "refresh: must be between 0 and 1"),
        (lambda d: d["terms"].update(pull="x"), "terms.pull"),
        (lambda d: d["terms"].update(increase=65), "terms.increase: must be between -64 and 64"),
        (lambda d: d.update(inputs=list(SIGNALS)[:22], features={}), "inputs: 22 signals, but a law takes at most 21"),
    ],
)
def test_bad_files_are_one_error(change: Any, message: str) -> None:
    document = json.loads(dumps(PolicyFile(rich())))
    change(document)
    with pytest.raises(InputError, match=message.replace("(", r"\(").replace(".", r"\.")):
        loads(json.dumps(document))


def test_the_largest_terms_lose_no_window() -> None:
    """Powers at the ends of what files may say: windows and gaps stay numbers."""
    for term in TERMS:
        for value in (-64, 64):
            rows = traced(Law.of(RICH | {term: value}, rate="capacity/flows"), duration=100.0)
            assert np.isfinite(rows["window_packets"]).all() and (rows["window_packets"] >= 1).all()
            assert (rows["gap_us"] > 0).all()


def test_laws_measure_what_senders_can() -> None:
    assert all(SIGNALS[name].source == "end-to-end" for name in OWN)
    assert {"age", "since_queue", "queued_share", "gap_ratio"} <= set(OWN)


def test_a_law_takes_a_header() -> None:
    carried = stamping(header("rcp-32"))
    assert "fair_rate" in WithHeader(rich(rate="fair_rate"), carried).stamping.signals
    with pytest.raises(InputError, match="does not carry the signal link"):
        WithHeader(rich(inputs=("link",)), carried)
