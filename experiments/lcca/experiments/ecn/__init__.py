"""Training and testing controllers of marking thresholds."""
