"""What simulators whose trials run in processes of their own have in common."""
