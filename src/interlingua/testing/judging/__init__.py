"""The judge of recorded exchanges: there and back in their own dialect, over to every other, whole and in pieces."""
