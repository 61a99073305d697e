"""Benchmarks that rank congestion controls by how often each is among the winners: scenarios, scores, winners."""
