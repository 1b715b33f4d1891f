"""Index arithmetic of the incremental engine, on NumPy arrays only."""
