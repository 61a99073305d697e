"""CC-Bench: scenarios, scores, and the winning rate per interval."""
