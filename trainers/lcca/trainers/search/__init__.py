"""What searches share that score candidates on common trials: those trials, and how a distribution of numbers moves."""
