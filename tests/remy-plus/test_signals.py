"""The Python list of signals is the engine's."""

import pytest

from lcca.remy_plus.signals import SIGNAL_CEILING, SIGNALS


def test_names_equal_the_engines():
    core = pytest.importorskip("lcca.remy_plus._core")
    assert tuple(core.signal_names()) == SIGNALS


def test_ceiling():
    assert SIGNAL_CEILING == 163840
