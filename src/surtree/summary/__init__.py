"""What is known of a fitted model, in words of no format: findings, figures, labels."""
