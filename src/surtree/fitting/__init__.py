"""From a table to the best trees: training data, the problem it poses, and the path of sizes."""
