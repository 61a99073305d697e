"""Trials and their execution, records, intervals, verdicts, figures and the report."""
