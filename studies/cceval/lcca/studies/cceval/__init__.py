"""Estimates of one metric of one policy until they are accurate enough (CCEval)."""
