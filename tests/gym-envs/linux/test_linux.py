"""Trials on this machine's network stack, against theory and the engine; they skip where it allows none."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.gym_envs.linux.plan import LinuxOptions
from lcca.gym_envs.linux.simulator import Linux
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.explicit import Xcp
from lcca.remy_plus.policies.hand_designed import HandDesigned, baseline
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Mixture, Policy, WithHeader
from lcca.remy_plus.record import Record
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping
from lcca.signal_sets.headers.text import layout

# Real time on a machine that others use: what they do spoils one trial, what is wrong here spoils all five
pytestmark = [pytest.mark.usefixtures("linux"), pytest.mark.flaky(reruns=4, reruns_delay=2)]

RATE, RTT = 20e-3 / 12, 20e3  # packets/µs of 20 Mbit/s, µs: 33.3 packets
QUIET = LinuxOptions(probe=False, late_percent=100)  # tests run beside others


def network(senders: int = 1, buffer: float = math.inf, loss: float = 0.0, **changes: Any) -> Network:
    return Network(4, RATE, RTT, senders, buffer, **({"mean_on": 1e9, "mean_off": 1.0} | changes), loss=loss)


def run(policy: Policy, on: Network, seconds: float = 1.0, options: LinuxOptions = QUIET, seed: int = 1) -> Record:
    simulator = Linux(seconds * 1e6, options)
    record = simulator.run(
        [simulator.compile(policy)], NetworkList([on]), [0], [0], [seed], keep_delays=True, keep_flows=True
    )
    assert not any(record.errors), record.errors
    return record


def test_a_window_has_the_queue_that_theory_says() -> None:
    """Of 60 packets 33.3 are on the way and one is served: 25.7 wait."""
    record = run(FixedWindow(60), network())
    assert record["trial_rtt_p50_us"][0] == pytest.approx(60 / RATE, rel=0.01)
    assert record["trial_queue_mean_packets"][0] == pytest.approx(60 - RATE * RTT - 1, abs=2)
    assert record["trial_utilisation"][0] > 0.93


def test_a_rate_is_kept() -> None:
    record = run(FixedRate(RATE / 2), network())
    on = 1e6 - record["flow_start_us"][0]
    assert record["flow_sent"][0] / on == pytest.approx(RATE / 2, rel=0.01)
    assert record["trial_rtt_p99_us"][0] == pytest.approx(RTT + 1 / RATE, rel=0.02)


def test_a_full_queue_drops_and_the_rest_arrives() -> None:
    record = run(FixedWindow(60), network(buffer=10.0), 2.0)
    lost = record["flow_sent"] - record["flow_delivered"] - record["flow_dropped"]
    assert record["flow_dropped"][0] > 0 and 0 <= lost[0] <= 60
    assert record["trial_rtt_p999_us"][0] <= RTT + 12.5 / RATE


def test_losses_are_the_engine_s() -> None:
    """The same packets of a flow are lost, so that the counts agree once as many are sent."""
    on = network(loss=0.02)
    record = run(FixedRate(RATE / 2), on, 1.5)
    engine = Engine(1.5e6, jobs=1).run([FixedRate(RATE / 2).compile()], NetworkList([on]), [0], [0], [1])
    assert record["flow_lost"][0] == pytest.approx(engine["sender_lost"][0], abs=2)
    assert record["flow_lost"][0] > 10


def test_flows_of_bytes_end_when_all_has_arrived() -> None:
    on = network(2, loss=0.01, mean_on=200.0, mean_off=1e5, switched="bytes")
    for policy in (Aimd(), baseline("cubic")):
        record = run(policy, on, 2.0)
        over = record["flow_finished"] == 1
        assert over.sum() >= 2
        short = record["flow_length"][over] - record["flow_delivered"][over]
        assert (short <= 1).all(), policy  # the last packet of TCP is not a full one
        assert (record["flow_end_us"][over] >= record["flow_start_us"][over] + RTT / 2).all()


def test_the_kernel_s_controls_fill_the_link() -> None:
    """NewReno's sawtooth in a buffer of one BDP queues from nothing to the whole of it."""
    record = run(baseline("newreno"), network(2, buffer=33.0), 4.0)
    assert record["trial_utilisation"][0] > 0.9
    assert 0.2 * 33 < record["trial_queue_mean_packets"][0] < 33
    assert record["flow_dropped"].sum() > 0


def test_two_policies_share_a_link() -> None:
    record = run(Mixture(baseline("cubic"), FixedRate(RATE / 4), 0.5), network(2, buffer=50.0), 1.5)
    assert sorted(record["flow_delivered"])[0] == pytest.approx(RATE / 4 * 1.5e6, rel=0.1)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (baseline("ledbat"), "ledbat: Linux has it not"),
        (baseline("cubic:beta=0.5"), "cubic: beta: the kernel's congestion controls have no parameters"),
        (HandDesigned("linux:nonesuch"), "this kernel has .*; try `modprobe tcp_nonesuch` as root"),
        (Xcp(), r"xcp_feedback \(xcp_feedback\): on Linux senders tell hops nothing yet"),
        (
            load(Path(__file__).parents[3] / "configs/policies/queue.json").policy,
            "queue: on Linux a header brings them: name one that does",
        ),
    ],
)
def test_what_cannot_run_is_one_line(policy: Policy, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Linux(1e6, QUIET).compile(policy)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"link_rate": 1.0}, "link_rate is 1.2e\\+04 Mbit/s, and at most 100"),
        ({"rtt": 100.0}, "rtt is 100 µs: hosts need 1 ms"),
    ],
)
def test_networks_that_this_machine_is_not(changes: dict[str, float], said: str) -> None:
    on = Network(
        **({"id": 7, "link_rate": RATE, "rtt": RTT, "senders": 1} | changes),
        buffer=9.0,
        mean_on=1e6,
        mean_off=1.0,
        loss=0.0,
    )
    with pytest.raises(InputError, match=f"network 7: on Linux {said}"):
        run(FixedWindow(2), on)


def test_trials_that_agree_to_the_byte_are_one_sample() -> None:
    simulator, met = Linux(3e5, QUIET), set[Any]()
    plan = simulator.plan(simulator.compile(FixedWindow(4)), network(), 1)
    flows = {"sent": [9, 8], "delivered": [7, 8], "dropped": [2, 0]}
    one = {"late_us": (1.0, 2.0, 3.0), "missed": 0, "sent": 17, "flows": flows}
    other = one | {"flows": flows | {"delivered": [7, 7]}}
    said = [
        simulator._fault(each, plan, met, of)
        for each, of in ((one, (0, 0)), (other, (0, 0)), (one, (1, 0)), (one, (0, 0)))
    ]
    assert said == ["", "", "", "agrees to the byte with another trial here: they are one sample"]
    assert simulator._fault(one | {"missed": 3}, plan, met, (2, 0)).startswith("the link missed 3 packets")


def test_late_trials_do_not_count() -> None:
    simulator = Linux(3e5, LinuxOptions(probe=False, late_percent=1e-6))
    late = simulator.run([simulator.compile(FixedWindow(4))], NetworkList([network()]), [0], [0], [1])
    assert "this machine had other work" in str(late.errors[0])
    probing = Linux(3e5, LinuxOptions(late_percent=1e-6))
    with pytest.raises(InputError, match="this machine is no link of 20 Mbit/s now"):
        probing.run([probing.compile(FixedWindow(4))], NetworkList([network()]), [0], [0], [1])


def test_a_killed_trial_leaves_nothing_behind(tmp_path: Path) -> None:
    before, devices = _namespaces(), os.listdir("/sys/class/net")
    listed = tmp_path / "networks.yaml"
    sizes = "link_rate: 20 Mbit/s, rtt: 20 ms, senders: 1, buffer: 50, mean_on: 1000 s, mean_off: 1 us, loss: 0"
    listed.write_text(f"- {{{sizes}}}\n")
    words = ["evaluate", "aimd", "--on", str(listed), "--set", "duration=60 s", "--simulator", "linux:probe=false"]
    with subprocess.Popen([sys.executable, "-m", "lcca.cli.main", *words], stderr=subprocess.DEVNULL) as started:
        _wait_for(lambda: len(_namespaces() - before) >= 3)
        assert os.listdir("/sys/class/net") == devices  # the host's own network is as it was
        started.send_signal(signal.SIGKILL)
    _wait_for(lambda: not _namespaces() - before)


def _wait_for(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    pytest.fail("waited a minute in vain")


def _namespaces() -> set[str]:
    """Return the network namespaces of all threads."""
    found = set()
    for each in Path("/proc").glob("[0-9]*/task/*/ns/net"):
        with suppress(OSError):
            found.add(os.readlink(each))
    return found


def test_starts_and_ends_are_the_workload_s() -> None:
    """Flows meet the same on and off times whatever the policy, up to the spread of first starts."""
    on = network(3, mean_on=2e5, mean_off=1e5)
    one, other = (run(each, on, 1.0) for each in (Aimd(), FixedWindow(9)))
    for name in ("flow_sender", "flow_start_us", "flow_end_us", "sender_first_on_us"):
        np.testing.assert_array_equal(one[name], other[name], name)
    assert len(one["flow_start_us"]) > 4


WATCHER = """
class Watcher:
    signals = {signals}

    def start(self):
        return 60, 0

    def on_ack(self, ack):
        with open({log!r}, "a") as log:
            print(*(getattr(ack, name) for name in self.signals), file=log)
        return 60, 0
"""


@pytest.mark.parametrize(
    ("name", "signals", "expected"),
    [
        ("csig-wide-nqd", ("queue_time",), (51.4,)),  # µs of the trial: 85.7 packets
        ("fair-share", ("capacity", "flows"), (RATE * 1000, 2.0)),
        ("hpcc", ("link", "queue"), None),
        ("fullest", ("load",), None),
        ("ecn", ("mark",), (1.0,)),
    ],
)
def test_a_header_says_in_real_packets_what_it_says_in_the_engine(
    tmp_path: Path, name: str, signals: tuple[str, ...], expected: tuple[float, ...] | None
) -> None:
    """Two windows of 60 packets: milliseconds here stand for the engine's microseconds."""
    on = Network(4, RATE * 1000, RTT / 1000, 2, 200.0, 1e9, 1.0, 0.0)
    file, log = tmp_path / "watcher.py", tmp_path / "log"
    file.write_text(WATCHER.format(signals=signals, log=str(log)))
    policy = WithHeader(load(f"{file}:Watcher").policy, stamping(header(name)))
    scaled = LinuxOptions(probe=False, late_percent=100, time_scale=1000)
    seen = []
    for simulator in (Engine(1e3, jobs=1), Linux(1e3, scaled)):
        compiled = simulator.compile(policy)
        log.write_text("")  # it was rehearsed
        record = simulator.run([compiled], NetworkList([on]), [0], [0], [1])
        assert not any(record.errors)
        seen.append(np.median(np.loadtxt(log, ndmin=2)[300:], axis=0))
    np.testing.assert_allclose(*seen, rtol=0.02)
    if expected:
        np.testing.assert_allclose(seen[1], expected, rtol=0.03)


def test_the_bits_of_a_header_lie_where_its_description_says() -> None:
    """CSIG's compact tag: 16 bits of Ethernet's type, three of the type of signal, five of its value, a locator."""
    made = stamping(header("csig-compact-abw"))
    begins = {each.name: each.begins for each in made.fields}
    described = {at.field.name: at.offset for at in layout(header("csig-compact-abw")) if not at.in_record}
    assert begins == {name: described[name] for name in begins}
    records = {each.name: each.begins for each in stamping(header("hpcc")).fields}
    assert records == {"rate": 0, "ts": 3, "tx_bytes": 27, "queue": 47}


WITHOUT_RIGHTS = """
from lcca.gym_envs.linux.plan import LinuxOptions
from lcca.gym_envs.linux.simulator import Linux
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.policy import FixedWindow
on = Network(4, 20e-3 / 12, 20e3, 2, 50.0, 1e9, 1.0, 0.0)
simulator = Linux(1e6, LinuxOptions(probe=False, late_percent=100))
policies = [simulator.compile(FixedWindow(60)), simulator.compile(baseline("cubic"))]
record = simulator.run(policies, NetworkList([on]), [0, 1], [0, 0], [1, 1])
print(*record.errors, *(share > 0.8 for share in record["trial_utilisation"]))
"""


def test_it_runs_without_rights_where_users_may_have_namespaces() -> None:
    rights = "-sys_admin,-net_admin,-net_raw,-sys_nice"
    without = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]
    if os.getuid() or subprocess.run([*without, "unshare", "-rn", "true"], capture_output=True).returncode:
        pytest.skip("needs root, which may give up its rights, and user namespaces")
    done = subprocess.run([*without, sys.executable, "-c", WITHOUT_RIGHTS], capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"], done.stderr
