"""What a congestion signal is, and the sets of signals that policies may use."""
