"""Failed answers, as far as all dialects read and write them alike."""
