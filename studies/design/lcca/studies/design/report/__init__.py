"""What a report has on a search for a header."""
