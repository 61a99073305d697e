"""Trials on a datacenter fabric: workloads, scenarios, and what is measured of them."""
