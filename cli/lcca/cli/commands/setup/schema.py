"""`lcca schema`: the JSON Schema of a kind of YAML file, for editors."""

from __future__ import annotations

import argparse
import json

from lcca.experiments.schemas.kinds import KINDS
from lcca.inputs.options import argument, frozen

EXAMPLES = """\
  lcca schema campaign > campaign.schema.json
  lcca schema header"""


@frozen
class Schema:
    kind: str = argument(
        "; ".join(f"{name}: {kind.what}" for name, kind in KINDS.items()), metavar="KIND", choices=tuple(KINDS)
    )


def run(verb: Schema, options: argparse.Namespace) -> int:
    from lcca.experiments.schemas.schema import schema

    print(json.dumps(schema(verb.kind), indent=1))
    return 0
