"""This machine's own network stack as a simulator of trials, in real time."""
