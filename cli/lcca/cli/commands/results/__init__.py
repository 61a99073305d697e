"""Commands on the results of runs."""
