"""Torch functions on state tensors: what works row by row, what gathers, and what aggregates."""
