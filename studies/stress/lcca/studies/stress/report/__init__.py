"""What a report has on hard networks."""
