"""Files: checks of values that were read, and atomic writes."""
