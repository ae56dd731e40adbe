"""What is as it nearly always is, read and written in one go; anything else takes the general road."""
