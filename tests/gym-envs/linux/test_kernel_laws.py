"""Control laws in whole numbers against the same laws in floating point, and in the kernel's TCP."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lcca.gym_envs.linux.kernel import registered
from lcca.gym_envs.linux.kernel.source import kernel_source
from lcca.gym_envs.linux.plan import LinuxOptions
from lcca.gym_envs.linux.simulator import AVAILABLE, Linux
from lcca.inputs.errors import InputError
from lcca.remy_plus.files.lawc import c_source
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.law import Law
from lcca.remy_plus.policies.policy import WithHeader
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping

LAW = Path("configs/policies/law-e2e.json")
LOOPS = Path(__file__).with_name("law_loops.c")
WHOLE, DISTURBED = 1, 2


def shipped() -> Law:
    law = load(LAW).policy
    assert isinstance(law, Law)
    return law


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    folder = tmp_path_factory.mktemp("laws")
    (folder / "double.c").write_text(c_source(shipped()))
    (folder / "fixed.c").write_text(kernel_source(shipped()))
    warned = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    command = ["gcc", "-O2", "-ffp-contract=off", *warned, f"-I{folder}", "-shared", "-fPIC", str(LOOPS)]
    subprocess.run([*command, "-o", str(folder / "laws.so"), "-lm"], check=True)
    return ctypes.CDLL(str(folder / "laws.so"))


def differences(loops: ctypes.CDLL, other: int, flows: int, acks: int) -> np.ndarray:
    """Return relative differences of mean windows and gaps from the law in floating point: a row a flow."""
    found = np.empty((flows, 4))
    loops.compare(other, flows, acks, found.ctypes.data_as(ctypes.c_void_p))
    return np.column_stack([found[:, 1] / found[:, 0], found[:, 3] / found[:, 2]]) - 1


@pytest.mark.slow
def test_whole_numbers_have_the_windows_of_floating_point(loops: ctypes.CDLL) -> None:
    """10,000 closed loops. What is left is chance: half of the RTTs 0.2 ns longer does as much."""
    apart, chance = (differences(loops, other, 10_000, 600) for other in (WHOLE, DISTURBED))
    assert np.abs(apart.mean(axis=0)).max() < 2e-3
    assert np.quantile(np.abs(apart), 0.5, axis=0).max() < 0.01
    assert np.quantile(np.abs(apart), 0.99) < 1.5 * np.quantile(np.abs(chance), 0.99)


def test_logarithms_and_powers(loops: ctypes.CDLL) -> None:
    found = np.empty(2)
    loops.errors(500_000, found.ctypes.data_as(ctypes.c_void_p))
    assert found[0] < 6e-8 and found[1] < 1.5e-6


@pytest.mark.parametrize("seconds", [1, 60, 3600, 86_400])
def test_a_pause_is_the_same_to_both(loops: ctypes.CDLL, seconds: int) -> None:
    """Also one beyond the 67 s at which ratios of times were held once."""
    found = np.empty((400, 2))
    loops.pause(ctypes.c_double(seconds * 1e6), 400, found.ctypes.data_as(ctypes.c_void_p))
    assert found[:, 1] == pytest.approx(found[:, 0], rel=0.01)


@pytest.mark.parametrize(
    ("terms", "others", "name"),
    [
        ({"boost_time": -20}, {}, "boost_time"),
        ({"gap": 52}, {}, "gap"),
        ({"boost_queue": 20}, {}, "boost_queue"),
        ({"recovery_power": 4}, {}, "recovery_power"),
        ({"decrease": 8, "decrease_window": 1}, {}, "decrease"),
        ({"increase": 9, "increase_window": 0}, {}, "increase"),
        ({}, {"largest_window": 100_000}, "largest_window"),
    ],
)
def test_numbers_without_room_are_refused(terms: dict[str, float], others: dict[str, float], name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: .*a law in the kernel is of whole numbers, which have no room"):
        kernel_source(Law.of(terms, **others))


def test_a_law_with_signals_of_hops_is_refused() -> None:
    with pytest.raises(InputError, match="flows: a law in the kernel has what senders measure alone"):
        kernel_source(Law.of({}, rate="1/flows"))


def test_missing_pieces_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    registered.registered.cache_clear()
    with pytest.raises(InputError, match=r"missing here: clang, bpftool"):
        registered.registered(shipped(), 1.0)


@pytest.fixture
def kernel(linux: None) -> None:
    if lacks := registered.missing():
        pytest.skip(f"no laws in the kernel: missing {', '.join(lacks)}")
    try:
        registered.registered(shipped(), 1.0)
    except InputError as error:  # rights that root does not have in a container
        pytest.skip(str(error))


@pytest.mark.flaky(reruns=4, reruns_delay=2)  # in real time
@pytest.mark.usefixtures("kernel")
def test_a_law_sends_in_the_kernel() -> None:
    options = LinuxOptions(probe=False, late_percent=100, kernel_laws=True, time_scale=1000)  # RTTs of its training
    simulator = Linux(4e3, options)
    compiled = simulator.compile(shipped())
    assert compiled[1] in AVAILABLE.read_text().split()
    network = Network(4, 20 / 12, 20.0, 1, 100, 1e9, 1.0, loss=0.0)
    record = simulator.run([compiled], NetworkList([network]), [0], [0], [1], keep_delays=True)
    assert not any(record.errors), record.errors
    least = 2 / (20 / 12 * 20)  # of the link: two packets an RTT; how much more differs from machine to machine
    assert record["trial_utilisation"][0] > 2.5 * least
    assert record["trial_rtt_p50_us"][0] < 60  # and no full buffer, which were 80 ms


@pytest.mark.flaky(reruns=4, reruns_delay=2)  # in real time
@pytest.mark.usefixtures("kernel")
def test_receivers_that_delay_acks_do_not_stop_it() -> None:
    """By the loopback device: to a flow of some us the 40 ms that an ACK may wait are a queue of 1,000 RTTs."""
    name = registered.registered(shipped(), 1.0)
    code = (
        "import socket, threading\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"
        f"one = socket.socket(); one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, {name!r}.encode())\n"
        "one.connect(listener.getsockname()); other, _ = listener.accept(); one.settimeout(60)\n"
        "left = [2_000_000]\n"
        "def read():\n"
        "    while left[0] > 0: left[0] -= len(other.recv(65536))\n"
        "reader = threading.Thread(target=read, daemon=True); reader.start()\n"
        "one.sendall(bytes(left[0])); reader.join(60); print(left[0])\n"
    )
    command = f'ip link set lo mtu 1500 up && exec {sys.executable} -c "$CODE"'
    done = subprocess.run(
        ["unshare", "-n", "sh", "-c", command],
        env={**os.environ, "CODE": code},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "0", done.stderr


@pytest.mark.usefixtures("linux")
def test_a_law_with_a_header_is_not_run_elsewhere_without_a_word() -> None:
    policy = WithHeader(Law.of({}, rate="capacity/flows"), stamping(header("fair-share")))
    with pytest.raises(InputError, match="kernel_laws: a law in the kernel reads no headers"):
        Linux(1e6, LinuxOptions(kernel_laws=True)).compile(policy)


@pytest.mark.usefixtures("kernel")
def test_what_a_killed_process_left_is_taken_away() -> None:
    code = (
        "import os\n"
        "from lcca.gym_envs.linux.kernel.registered import registered\n"
        "from lcca.remy_plus.files.policyfile import load\n"
        f"print(registered(load({str(LAW)!r}).policy, 1.0), flush=True)\n"
        "if len(os.sys.argv) > 1: os.kill(os.getpid(), 9)\n"
    )

    def name(*arguments: str) -> str:
        run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
        return run.stdout.strip()

    left = name("killed")
    assert left in AVAILABLE.read_text()
    ended = name()
    assert ended != left and not {left, ended} & set(AVAILABLE.read_text().split())
