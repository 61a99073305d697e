"""Fixtures of `tests/` for the tests of studies too."""

pytest_plugins = ["tests.fixtures"]
