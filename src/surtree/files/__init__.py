"""Files: checks of values that were read, and writing a file whole or not at all."""
