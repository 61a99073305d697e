"""The wheel of lcca-ns3 runs where there is nothing but ns-3: no cppyy, no numpy, no lcca."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "gym-envs" / "ns3"
TRIAL = """
import sys
from lcca.ns3 import run_trial
link = (2.0, 10.0, 100.0)
plan = dict(
    network=dict(id=1, link_rate=2.0, rtt=20.0, senders=1, buffer=100.0, loss=0.0,
                 workload=("time-switched", 1000.0, 100.0)),
    routers=2, links=[(0, 1, *link), (1, 0, *link)], routes=[([0], [1], True)], policy=("fixed-window", 10.0),
    queue="drop-tail", queue_attributes={}, seed=1, duration=1000.0,
    model=dict(link_interval=10.0, rplus_link_window=False, ack_size=0.1, mark_above=0.0),
    options=dict(packet_bytes=590, header_bytes=-1, host_gbps=1000.0, min_rto=5000.0, initial_window=10, time_scale=1.0,
                 keep_delays=False, one_way=False, late_handshakes=False),
)
assert run_trial(plan)["delivered"] > 100
assert not {"cppyy", "numpy"} & set(sys.modules)
"""


@pytest.mark.full
@pytest.mark.usefixtures("ns3")
def test_the_wheel_runs_alone(tmp_path):
    wheels, home = tmp_path / "wheels", tmp_path / "venv"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", wheels, SOURCE], check=True)
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    (wheel,) = wheels.glob("lcca_ns3-*.whl")
    install = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
    got = subprocess.run([*install, "ns3==3.44.post0"])
    if got.returncode:
        pytest.skip("ns3 3.44.post0 cannot be fetched here")
    subprocess.run([*install, wheel], check=True)
    subprocess.run([python, "-c", TRIAL], check=True, cwd=tmp_path)
