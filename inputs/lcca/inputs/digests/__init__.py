"""What results depend on: code and files, with hashes."""
