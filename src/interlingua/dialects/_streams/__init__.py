"""Pieces of a stream that are like the one before: read by what differs."""
