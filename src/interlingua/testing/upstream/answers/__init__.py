"""Answers of every provider, whole and streamed, in its own framing."""
