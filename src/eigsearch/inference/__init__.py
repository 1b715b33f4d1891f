"""Step 2: call the model, read its output, check its behaviour."""
