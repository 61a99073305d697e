"""Environments to learn in, over the fast engine and ns-3; and ns-3 as a simulator of trials.

``import lcca.gym_envs.registration`` registers the environments' ids with Gymnasium. This module imports nothing, so
that worker processes and commands that need no environment start quickly.
"""
