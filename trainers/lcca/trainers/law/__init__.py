"""Learning of control laws: a natural evolution strategy over their numbers, in stages."""
