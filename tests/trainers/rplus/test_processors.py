"""What trainings and scores are made of has the same bits whatever vector instructions NumPy and OpenBLAS may use."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import hashlib

import numpy as np

from lcca.evaluation.scenarios.sizes import lognormal
from lcca.evaluation.trials.utilities import utility
from lcca.remy_plus.core.elementary import exp, log, log2
from lcca.signal_sets.headers.codec import coding
from lcca.signal_sets.headers.field import HeaderField
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.remy_plus.engine import Engine
from lcca.trainers.base import Task, run
from lcca.trainers.law.config import LawConfig
from lcca.trainers.law.trainer import LawTrainer
from lcca.trainers.rplus.actions import Coordinates
from lcca.trainers.search.evolution import Evolution

draws = np.random.default_rng(2)


def tell(name, *arrays):
    print(name, *(hashlib.sha256(np.ascontiguousarray(each).tobytes()).hexdigest() for each in arrays))


x = draws.uniform(1e-3, 50, 50_000)
tell("functions", log(x), log2(x), exp(x / 10))
tell("scores", utility("default").of(x, 40 * x[::-1]))
search = Evolution.at(draws.normal(size=(300, 3)), 0.3)
for _ in range(20):
    search.move(draws.normal(size=(24, 300, 3)), draws.normal(size=24))
tell("search", search.point, search.sigma)
coordinates, others = Coordinates("absolute"), np.ones((20_000, 3))
points = coordinates.point(others * x[:20_000, None])
tell("actions", points, coordinates.actions(points, others))
tell("sizes", np.array(lognormal(8, 2, 1000).packets))
numbers = {"rtt": 20, "link_rate": 3, "senders": {"min": 1, "max": 4, "step": 1}, "buffer": 100}
space = NetworkSpace(**numbers, mean_on=500, mean_off=300, loss=0.01, switched="time", duration=1000)
task = Task("law", ("receive_ewma", "rtt_ratio", "link", "loss"), space, utility("default"), 5)
law = run(LawTrainer(task, LawConfig(stages=({"trials": 100},), networks=4), Engine(1000.0)))
tell("law", np.array([*law.terms, *np.ravel(law.features)]))
encode = {"kind": "log", "base": 1.07, "min": 0.3}
tell("header", np.array(coding(HeaderField(name="x", source="util", bits=12, encode=encode)).numbers))
"""


@pytest.mark.slow
def test_bits_do_not_depend_on_the_processor() -> None:
    from numpy._core import _multiarray_umath as numpy_core

    used = [name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__[name]]
    if not used:
        pytest.skip("NumPy uses no vector instructions of this processor that can be left out")
    without = {"NPY_DISABLE_CPU_FEATURES": " ".join(used), "OPENBLAS_CORETYPE": "Nehalem"}
    command = [sys.executable, "-c", SCRIPT]
    told = [
        subprocess.run(command, env=os.environ | change, capture_output=True, text=True) for change in ({}, without)
    ]
    assert told[0].stdout.count("\n") == 7, told[0].stderr
    assert told[0].stdout == told[1].stdout
