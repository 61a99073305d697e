"""Figures of fabric trials and the data that they show."""
