"""Policies in files: policy.json, Remy's and R+'s .dna, and as text."""
