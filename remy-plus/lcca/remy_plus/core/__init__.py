"""What signals there are, what packets bring of them, and arithmetic that has the same bits everywhere."""
