"""Tests that need ns-3 skip, by name, where lcca-ns3 is not installed."""

import pytest

from lcca.gym_envs.ns3.simulator import installed
from lcca.inputs.errors import InputError


@pytest.fixture(scope="session")
def ns3():
    """ns-3's version."""
    try:
        return installed()
    except InputError as error:
        pytest.skip(str(error))
