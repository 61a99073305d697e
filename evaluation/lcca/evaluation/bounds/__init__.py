"""What is possible: ideals that know more than a policy can, and bounds that no policy exceeds."""
