# SPDX-License-Identifier: GPL-2.0-only
"""Trials in ns-3, in this process: what `lcca.gym_envs` runs them with."""

from lcca.ns3._core import NS3_VERSION, BottleneckDriver, SwitchDriver, buffer_work, registered_controls, run_trial

__all__ = [
    "NS3_VERSION",
    "BottleneckDriver",
    "SwitchDriver",
    "buffer_work",
    "registered_controls",
    "run_trial",
]
