"""Step 2: what the model says: calling it, reading its output, checking its behaviour."""
