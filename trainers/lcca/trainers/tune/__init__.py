"""Tuning: the best parameters of a congestion control for a network space, found in Optuna studies.

`config` and `space` say what is searched and need no extra; `study` runs the search and needs Optuna
(``pip install 'lcca[tune]'``).
"""
