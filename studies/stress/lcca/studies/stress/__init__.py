"""The search for networks where a policy loses most."""
