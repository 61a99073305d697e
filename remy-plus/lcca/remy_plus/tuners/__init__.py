"""Tuners: what sets parameters of a fabric's switches and hosts, before a run or during it."""
