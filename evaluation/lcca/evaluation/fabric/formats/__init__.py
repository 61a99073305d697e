"""Files of other simulators as flows, topologies and sizes of ours: a reader for each form, and what it assumes."""
