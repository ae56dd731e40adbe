"""The shared parts of the two dialects of OpenAI."""
