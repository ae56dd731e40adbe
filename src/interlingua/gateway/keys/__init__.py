"""Who may ask, what for, and for how much."""
