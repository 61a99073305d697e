"""PARALEON: sketches tell when the traffic changes, and annealing then tries DCQCN's parameters."""
