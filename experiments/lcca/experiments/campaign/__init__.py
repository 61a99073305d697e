"""What a campaign is: its configuration, candidates and plan."""
