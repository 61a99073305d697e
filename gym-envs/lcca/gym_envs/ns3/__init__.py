"""ns-3 as a simulator of trials, and the hand-designed congestion controls that it has."""
