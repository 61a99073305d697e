"""Environments whose agent sets the marking thresholds of a switch."""
