"""Rules for torch functions on state tensors: rowwise ones, gathers, aggregations."""
