"""Figures of estimations."""
