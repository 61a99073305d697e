"""Rankings on benchmarks: trials that are run once for all rankings, and what a ranking costs."""
