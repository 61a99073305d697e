"""The workload of a fabric: which flows there are, whatever the transport."""
