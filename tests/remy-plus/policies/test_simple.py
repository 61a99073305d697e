"""Every congestion control that the engine has keeps the same contract; a new one in `SIMPLE` is asked too."""

import math
import pickle
from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, loads
from lcca.remy_plus.files.text import describe
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.explicit import SIMPLE
from lcca.remy_plus.policies.hand_designed import baseline, is_baseline
from lcca.remy_plus.policies.simple import Simple

NETWORK = Network(3, 2.0, 20.0, 3, 20.0, 300.0, 100.0, 0.01)


@pytest.fixture(params=SIMPLE)
def policy(request: pytest.FixtureRequest) -> Simple:
    found = baseline(SIMPLE[request.param].example.split()[0])
    assert isinstance(found, SIMPLE[request.param]) and is_baseline(request.param)
    return found


def bits(policy: _core.Policy, network: _core.Network, jobs: int = 1) -> list[bytes]:
    listed, seeds = NetworkList([NETWORK]), np.arange(4)
    listed.compiled = lambda _: [network]  # type: ignore
    record = Engine(2000.0, Model(ack_size=0.0), jobs).run([policy], listed, 0 * seeds, 0 * seeds, seeds)
    names = ("sender_delivered", "sender_delay_sum_us", "trial_sent", "trial_utilisation")
    assert record["trial_delivered"].min() > 0
    return [record[name].tobytes() for name in names]


def test_a_file_keeps_it_and_a_text_tells_it(policy: Simple) -> None:
    assert loads(dumps(PolicyFile(policy))).policy == policy
    assert policy.title in describe(PolicyFile(policy)) and all(policy.lines())


def test_each_parameter_is_checked_and_can_be_tuned(policy: Simple) -> None:
    for name, value in asdict(policy).items():
        assert replace(policy, **{name: value}) == policy
        for bad in (math.nan, -1e12, True, "1"):
            with pytest.raises(InputError, match=f"^{name}: must be"):
                replace(policy, **{name: bad})


def test_its_bits_are_those_of_any_process_threads_and_kind_of_network(
    policy: Simple, by_links: Callable[[Network], _core.Network]
) -> None:
    compiled, network = policy.compile(), compile_network(NETWORK)
    expected = bits(compiled, network)
    assert bits(pickle.loads(pickle.dumps(compiled)), network, jobs=2) == expected
    assert bits(compiled, by_links(NETWORK)) == expected
