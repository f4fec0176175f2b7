"""The estimators with a tree: what fits it, and what it predicts."""
