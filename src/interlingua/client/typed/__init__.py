"""Typed answers, and what is done where a target cannot be held to a schema."""
