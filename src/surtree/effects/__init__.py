"""Whether treatment effects differ between leaves, and how much of that to expect in new data."""
