"""YAML campaigns from plan to report, and the `lcca` command."""
