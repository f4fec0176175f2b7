"""Tables that are not in memory: read in passes, on engines that hold them."""
