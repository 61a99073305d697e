"""When a comparison is settled: rules, sequences of looks, verdicts."""
