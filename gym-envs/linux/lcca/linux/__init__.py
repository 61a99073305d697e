"""Trials on this machine's own network stack. Used by `lcca.gym_envs.linux`; nothing here is for users."""

from lcca.linux._core import enter_user_namespace, privileged, run_trial

__all__ = ["enter_user_namespace", "privileged", "run_trial"]
