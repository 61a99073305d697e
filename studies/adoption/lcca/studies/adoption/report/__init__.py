"""What a report has on adoption."""
