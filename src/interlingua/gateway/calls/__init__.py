"""The way of one call: what is asked, which target gets it, what goes out and what comes back."""
