"""Trainers: from networks, a signal set and a utility to a policy."""
