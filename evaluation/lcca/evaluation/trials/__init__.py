"""Running trials, scoring them, keeping them."""
