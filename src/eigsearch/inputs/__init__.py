"""Step 1: what is asked, as validated graphs with edge groups."""
