"""Experiments from a file or a call to a verdict and a report; `lcca.api` has their functions by one import."""
