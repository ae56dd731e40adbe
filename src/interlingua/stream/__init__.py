"""Streams and their laws: build events, fold them to a response, unfold a response, check the laws."""
