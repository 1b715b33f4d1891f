"""Step 5: which edges matter most."""
