"""Estimating one metric of one policy."""
