"""Environments to learn in, over the fast engine and ns-3; and ns-3 as a simulator of trials.

Gymnasium knows the environments' ids by `lcca.gym_envs.registration`. This module imports nothing, so that worker
processes and commands that need no environment start quickly.
"""
