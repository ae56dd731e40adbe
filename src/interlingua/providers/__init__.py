"""Providers: address, key and dialects as rows of data, and the facts of model families."""
