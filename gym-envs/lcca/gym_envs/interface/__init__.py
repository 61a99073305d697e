"""What environments have in common: networks, spaces, actions and rewards."""
