"""The signals as the engine's table has them."""

import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import CARRIED, OF_HOSTS, QUANTITIES, SIGNAL_CEILING, SIGNALS


def test_order_and_ceiling():
    assert tuple(row["name"] for row in _core.signal_table()) == SIGNALS + OF_HOSTS == tuple(QUANTITIES)
    assert SIGNALS[:3] == ("send_ewma", "receive_ewma", "rtt_ratio")
    assert SIGNAL_CEILING == 163840


@pytest.mark.parametrize("name", QUANTITIES)
def test_rows_are_complete(name):
    row = QUANTITIES[name]
    assert row.label and row.smoothing and row.scale_unit > 0
    assert row.largest == (SIGNAL_CEILING if row.scale_divisor else 1.0)
    assert (row.carried is None) == (row.field is None) == (name not in CARRIED)


def test_smoothed_signals_are_carried_by_the_plain_ones():
    assert {name: carried for name, carried in CARRIED.items() if name != carried} == {
        "queue_ewma": "queue",
        "link_ewma": "link",
        "available_capacity_ewma": "available_capacity",
    }
