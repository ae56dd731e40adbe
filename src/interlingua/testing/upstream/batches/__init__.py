"""Batches of the imitated services: handed over, looked at, cancelled, and their results; they keep state."""
