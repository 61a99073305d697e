"""Searches with headers: the paper's 32-bit fields, free of charge, change no bit of what is learnt."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.policies.policy import WithHeader, compile_policy
from lcca.remy_plus.policies.rules import CUT_STEP, bisect, one_rule
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping
from lcca.trainers.base import run

SIGNALS = ("rtt_ratio", "link", "queue")


def search(make_trainer, made, seed, **config):
    trainer = make_trainer(signals=SIGNALS, seed=seed, **config)
    trainer.task = replace(trainer.task, header=made)
    table = run(trainer)
    return table, [row.score_bits for row in trainer.state.learning]


@pytest.mark.parametrize(("mode", "seed"), [("racing", 1), pytest.param("exact", 1, marks=pytest.mark.full)])
def test_32_bits_free_of_charge_learn_the_same_bits(make_trainer, mode, seed):
    config = {"mode": mode, "rounds": 3, "networks": 4, "check_networks": 0}
    plain, scores = search(make_trainer, None, seed, **config)
    free, same_scores = search(make_trainer, stamping(header("nosignal-8b"), charged=False), seed, **config)
    assert len(plain) > 8
    assert free == plain
    assert free.digest == plain.digest
    assert same_scores == scores
    for bounds in (plain.lower, plain.upper):
        assert (np.mod(bounds, CUT_STEP) == 0).all()


def test_coarse_fields_do_not(make_trainer):
    few = {"rounds": 3, "networks": 4, "check_networks": 0}
    plain, _ = search(make_trainer, None, 1, **few)
    told = header("nosignal-8b").model_dump()
    coarse = [told["fields"][0], told["fields"][1] | {"encode": {"kind": "linear", "step": 4.0}}]
    made = stamping(type(header("nosignal-8b")).model_validate(told | {"fields": coarse}), charged=False)
    assert search(make_trainer, made, 1, **few)[0] != plain


def test_cuts_are_on_the_grid_and_the_same_for_values_in_32_bits(space):
    networks = NetworkList(space.draw(5, 10))
    free = stamping(header("nosignal-8b"), charged=False)
    table = replace(bisect(one_rule(SIGNALS), 0, np.array([1.5, 0.5, 2.0])), increment=np.arange(8) + 1.0)
    engine, index, seeds = Engine(2000.0), np.arange(10), np.full(10, 3)
    for rule in range(8):
        plain, header_s = (
            engine.cuts(compile_policy(p), networks, index, seeds, rule, SIGNALS)
            for p in (table, WithHeader(table, free))
        )
        np.testing.assert_array_equal(plain, header_s)
        assert (np.mod(plain[~np.isnan(plain)], CUT_STEP) == 0).all()


@given(value=st.floats(0, 163839) | st.floats(0, 2**-6), cut=st.integers(0, 2**38))
def test_rounding_down_to_the_grid_changes_no_comparison_with_it(value, cut):
    """Why it holds by construction: a cut on the grid has a value and its code's number on one side."""
    coding = stamping(header("nosignal-8b")).fields[0].coding
    wide = asdict(replace(coding, bits=52))
    code = _core.encode(wide, np.array([value]), np.zeros(1))
    carried = _core.decode(wide, code)[0]
    assert (value >= cut * CUT_STEP) == (carried >= cut * CUT_STEP)
    assert carried <= value < carried + CUT_STEP or code[0] == 2**52 - 1
