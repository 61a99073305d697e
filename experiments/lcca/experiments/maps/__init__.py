"""Maps of what signal sets are worth, from a campaign's trained policies."""
