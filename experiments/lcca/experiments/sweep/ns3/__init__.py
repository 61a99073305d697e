"""A campaign in ns-3: scores of checkpoints, and the selected policies validated there."""
