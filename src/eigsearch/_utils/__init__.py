"""Small helpers without knowledge of graphs or models."""
