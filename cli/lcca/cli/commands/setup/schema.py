"""`lcca schema`: the JSON Schema of a kind of YAML file, for editors."""

from __future__ import annotations

import argparse
import json

from lcca.experiments.schemas.kinds import KINDS

EXAMPLES = """\
  lcca schema campaign > campaign.schema.json
  lcca schema header"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    kinds = "; ".join(f"{name}: {kind.what}" for name, kind in KINDS.items())
    parser.add_argument("kind", choices=tuple(KINDS), metavar="KIND", help=kinds)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from lcca.experiments.schemas.schema import schema

    print(json.dumps(schema(options.kind), indent=1))
    return 0
