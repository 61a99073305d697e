"""What drives a sender: rule tables, networks, hand-designed congestion controls and their parameters."""
