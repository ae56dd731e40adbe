"""Streams told to web clients."""
