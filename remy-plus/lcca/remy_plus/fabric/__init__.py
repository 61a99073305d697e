"""The datacenter fabric: its topologies and flows."""
