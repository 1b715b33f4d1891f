"""Explainers that fit a simpler model to the predictions and read that one."""
