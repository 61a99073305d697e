"""Tables that commands print on standard output."""
