"""How much memory batches take, and that they give it back. Each measurement has a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

SETUP = """
import gc, json, math
import numpy as np
import psutil
from lcca.remy_plus.engine import Engine, compile_policy
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Aimd

process = psutil.Process()
policy = compile_policy(Aimd())

def networks(count, senders):
    return NetworkList([Network(i, 3.0, 25.0, senders, 250.0, 5000.0, 500.0, 0.001) for i in range(count)])

def batch(listed, duration, **options):
    count = len(listed)
    index = np.arange(count)
    return Engine(duration=duration, jobs=2).run([policy], listed, 0 * index, index, index, **options)

def peak():  # MB of the process so far (getrusage would begin with the peak of the process that started this one)
    status = dict(line.split(":") for line in open("/proc/self/status"))
    return int(status["VmHWM"].split()[0]) / 1024

batch(networks(2, 2), 1000.0, keep_delays=True, keep_flows=True)  # what is loaded once
before = peak()
"""


def measure(program: str) -> dict[str, float]:
    """Run the program after `SETUP` and return what it prints."""
    done = subprocess.run([sys.executable, "-c", SETUP + program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", ", keep_delays=True", ", keep_delays=True, keep_flows=True"])
def test_peak_of_a_large_batch(options: str) -> None:
    found = measure(f"""
result = batch(networks(200, 16), 10_000.0{options})
print(json.dumps({{"packets": result.packets, "grown": peak() - before, "peak": peak()}}))
""")
    assert found["packets"] > 4_000_000
    assert found["grown"] < 60  # MB
    assert found["peak"] < 200


@pytest.mark.slow
def test_a_thousand_batches_leave_nothing_behind() -> None:
    found = measure("""
listed = networks(4, 4)
sizes = []
for i in range(1100):
    batch(listed, 500.0, keep_delays=True, keep_flows=True)
    if i % 100 == 99:
        gc.collect()
        sizes.append(process.memory_info().rss / 2**20)
print(json.dumps({"early": sizes[0], "late": sizes[-1]}))
""")
    assert found["late"] - found["early"] < 2  # MB


@pytest.mark.slow
def test_a_queue_that_grew_is_given_back() -> None:
    """A trial far above capacity with an unlimited buffer needs room while it runs only."""
    found = measure("""
from lcca.remy_plus.policies.policy import FixedRate
policy = compile_policy(FixedRate(60.0))
listed = NetworkList([Network(0, 3.0, 25.0, 1, math.inf, 1e9, 1e-3, 0.0)])
resident = process.memory_info().rss / 2**20
result = batch(listed, 20_000.0)
gc.collect()
print(json.dumps({
    "queue": result.floats("trial_queue_mean_packets")[0],
    "peak": peak() - before,
    "left": process.memory_info().rss / 2**20 - resident,
}))
""")
    assert found["queue"] > 500_000
    assert found["peak"] > 50  # MB: the measurement sees what is used
    assert found["left"] < 5
