"""Surfaces beside conversations: models, token counts, stored responses, what only a provider answers."""
