"""Our description of what a rule table needs of Remy's and R+'s ``.dna`` protobufs, built in code.

A ``.dna`` file is one serialised ``Tree`` without a header. Field numbers and types are those of the files
(protobuf 2); the names are ours. Fields that are not described here (the configuration and the networks
that a table was trained on) are skipped by the parser.
"""

from __future__ import annotations

from typing import Any

from lcca.remy_plus.files.protobuf import message_classes

R_PLUS_AXES = (
    "send_ewma",
    "receive_ewma",
    "rtt_ratio",
    "slow_receive_ewma",
    "rtt_difference",
    "queueing_delay",
    "loss",
    "queue_ewma",
    "link_ewma",
)
"""R+'s signals by the number that a file's ``active_axis`` holds. Remy has the first six."""

DEFAULT_AXES = (0, 1, 2, 3)
"""The axes of a node that lists none."""

# message: (number, name, type), where "*" marks a repeated field
_MESSAGES: dict[str, tuple[tuple[int, str, str], ...]] = {
    "Point": tuple((21 + i, name, "double") for i, name in enumerate(R_PLUS_AXES)),
    "Box": ((11, "lower", "Point"), (12, "upper", "Point"), (13, "active_axis", "int32*")),
    "Rule": (
        (31, "increment", "sint32"),
        (32, "multiple", "double"),
        (33, "pacing", "double"),
        (34, "box", "Box"),
    ),
    "Steps": tuple(
        (41 + i, name, "double")
        for i, name in enumerate(("lowest", "highest", "smallest_step", "largest_step", "step_factor", "start"))
    ),
    "Search": ((51, "increment", "Steps"), (52, "multiple", "Steps"), (53, "pacing", "Steps")),
    "Tree": ((1, "box", "Box"), (2, "children", "Tree*"), (3, "rule", "Rule"), (5, "search", "Search")),
}

Tree: type[Any] = message_classes("lcca.dna", "proto2", _MESSAGES)["Tree"]
"""Message class of a whole ``.dna`` file, and of each node in it."""
