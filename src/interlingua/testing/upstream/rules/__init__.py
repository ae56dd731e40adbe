"""What every provider refuses beyond the shape of a request: order, pairing, names, limits, model families."""
