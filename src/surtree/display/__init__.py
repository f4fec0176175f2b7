"""What pictures and pages have in common: the words, numbers, curves and colours of a leaf."""
