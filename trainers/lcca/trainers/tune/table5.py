"""The ranges in which the paper tunes hand-designed congestion controls (Table 5), in the units of our parameters.

The paper maps time to milliseconds (A.3): its seconds and milliseconds are milliseconds and microseconds of the
networks, which `time_scale` 1000 (the default of every control of ns-3) simulates as seconds and milliseconds again.
BBR's threshold goes to 8192 bytes here; the paper's last value, 8142, is no multiple of its granularity.
"""

from __future__ import annotations

from collections.abc import Mapping

from lcca.inputs.errors import InputError, did_you_mean
from lcca.trainers.tune.space import Axis, Range

TABLE_5: Mapping[str, Mapping[str, Axis]] = {
    "vegas": {
        "alpha": Range(min=0, max=15, step=1),
        "beta": Range(min=1, max=15, step=1),
        "gamma": Range(min=1, max=40, step=2),
    },
    "bbr": {
        "high_gain": Range(min=2.75, max=3.05, step=0.05),
        "bw_window_length": Range(min=4, max=14, step=2),
        "rtt_window_length": Range(min=4000, max=14000, step=2000),
        "probe_rtt_duration": Range(min=100, max=350, step=50),
        "extra_acked_rtt_window_length": Range(min=2, max=8, step=1),
        "ack_epoch_acked_reset_threshold": Range(min=2048, max=8192, step=2048),
    },
    "cubic": {
        "beta": Range(min=0.5, max=0.9, step=0.05),
        "delta": Range(min=6, max=14, step=2),
        "c": Range(min=0.2, max=0.6, step=0.05),
        "counter_clamp": Range(min=10, max=30, step=5),
    },
}


def table_5(name: str) -> Mapping[str, Axis]:
    """Return the paper's ranges for a congestion control; those of BBR for BBR′ too, which has the same parameters.

    Raises:
        InputError: the paper tunes none of that name.
    """
    name = "bbr" if name == "bbr-prime" else name
    if name not in TABLE_5:
        raise InputError(
            f"table-5 has no ranges for {name[:60]!r}{did_you_mean(name, TABLE_5)}; write the space out, "
            "as in `space: {window: {min: 1, max: 64, step: 1}}`"
        )
    return TABLE_5[name]
