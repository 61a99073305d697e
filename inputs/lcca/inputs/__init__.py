"""Reading what users write and keep: errors with file, line and key, files, YAML documents, their models."""
