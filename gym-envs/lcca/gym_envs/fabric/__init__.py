"""Environments whose agents steer flows of a fabric."""
