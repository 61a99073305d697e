"""Policies and signal sets against each other."""
