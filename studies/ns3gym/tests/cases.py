"""A simulation that is none, for the tests that ask all environments."""

import sys
from pathlib import Path
from typing import Any

PEER = str(Path(__file__).with_name("ns3gym_peer.py"))
ENVIRONMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "Ns3Gym": (
        "lcca/Ns3Gym-v0",
        {"command": [sys.executable, PEER, "--lives=12", "--openGymPort={port}", "--simSeed={seed}"], "timeout": 5.0},
    ),
}
