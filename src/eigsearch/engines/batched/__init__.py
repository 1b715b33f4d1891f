"""The batched engine: any model, many candidates per forward call."""
