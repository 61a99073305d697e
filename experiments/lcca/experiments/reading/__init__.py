"""Finished and unfinished runs for users: as tables, figures, lists, and side by side."""
