"""The words, numbers, curves and colours of a leaf, for plots and reports."""
