"""What is said of a fitted model, without a format: findings, figures, leaves, labels."""
