"""The kinds of YAML files that users write: which reader takes each, and its JSON Schema for editors."""
