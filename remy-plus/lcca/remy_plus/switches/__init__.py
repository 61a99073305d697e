"""What switches and hosts of a fabric have that can be set: markers, transports and their parameters, and control."""
