"""What a report has on a map."""
