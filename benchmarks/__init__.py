"""Side-by-side speed of the solver and of tuning: ``python -m benchmarks.solver``."""
