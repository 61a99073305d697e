"""What every kind of run needs: its folder, costs, seeds, progress, version."""
