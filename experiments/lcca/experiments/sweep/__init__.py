"""A campaign from training to report."""
