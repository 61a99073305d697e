"""The registry of signals."""

import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import OF_HOSTS, QUANTITIES, SIGNAL_CEILING
from lcca.signal_sets.registry import MEANINGS, SIGNALS, signal


def test_the_engines_signals_and_no_others_are_explained():
    assert set(MEANINGS) == set(QUANTITIES) == set(SIGNALS)


@pytest.mark.parametrize("name", SIGNALS)
def test_definitions_are_complete(name):
    found = signal(name)
    assert found.name == name
    low, high = found.range
    assert 0 <= low < high <= SIGNAL_CEILING
    assert (found.source == "hosts") == (name in OF_HOSTS)
    assert (found.source == "in-network") == (found.carries is not None) == (found.header_bits == 32)
    assert found.doc.endswith(".")
    assert found.reference and found.smoothing


def test_smoothed_variants_share_the_header_field_of_the_plain_ones():
    for name in ("queue", "link", "available_capacity"):
        assert signal(f"{name}_ewma").carries == signal(name).carries


def test_unknown_signals_get_a_suggestion():
    with pytest.raises(InputError, match=r"unknown signal 'recieve_ewma' \(did you mean 'receive_ewma'\?\)"):
        signal("recieve_ewma")
