"""The wire formats. Each folder is one dialect in both roles; `table` finds them by name."""
