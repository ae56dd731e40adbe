"""Costly bodies: read, decoded and encoded in a process of their own, while the event loop serves others."""
