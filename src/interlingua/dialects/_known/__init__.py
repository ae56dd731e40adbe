"""What came before and is known again: tools, conversations, whole bodies, and what was written around them."""
