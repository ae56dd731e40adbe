"""One call, from what is asked to its answer: `core` is its logic without I/O, `pump` drives that."""
