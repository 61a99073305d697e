"""The `lcca` command."""
