"""What several calls have in common, made once."""
