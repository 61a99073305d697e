"""Tests of what a campaign has trained, and what they say of policies, signal sets and headers."""
