"""Rules of every provider beyond the shape of a request: order, pairing, names, limits, model families."""
