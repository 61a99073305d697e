"""What a campaign is: its configuration, candidates, grid and plan."""
