"""Whether treatment effects differ between leaves, and how much of that is expected in new data."""
