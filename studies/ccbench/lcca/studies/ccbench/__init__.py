"""Benchmarks of congestion controls: scenarios, who wins them, and trials that are run once for all rankings."""
