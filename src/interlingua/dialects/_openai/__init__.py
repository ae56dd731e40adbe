"""What the two dialects of OpenAI say alike."""
