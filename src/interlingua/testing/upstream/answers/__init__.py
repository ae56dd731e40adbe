"""What every provider answers, whole and streamed, in its own framing."""
