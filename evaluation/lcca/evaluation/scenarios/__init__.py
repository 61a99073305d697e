"""Which networks and flows trials run on."""
