"""Batches of providers behind `map`: many inputs handed over at once, answered within a day, at half the price."""
