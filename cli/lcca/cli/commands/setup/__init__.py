"""Commands for the start: what to run, in which form, and whether the installation can."""
