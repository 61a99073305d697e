"""ACC: agents that set the marking thresholds of switches, their learner, and its tests."""
