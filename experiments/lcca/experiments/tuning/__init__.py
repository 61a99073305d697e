"""Tuning hand-designed congestion controls."""
