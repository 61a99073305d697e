"""Environments whose agent steers one flow or all flows of a bottleneck."""
