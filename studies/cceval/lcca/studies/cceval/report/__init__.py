"""What a report has on estimates."""
