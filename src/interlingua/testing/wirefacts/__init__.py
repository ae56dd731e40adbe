"""Readers of facts, one module a dialect, written from the wire formats alone: they share nothing with the dialects."""
