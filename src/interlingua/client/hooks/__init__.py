"""Hooks around calls: the interface, what runs them, and the two that come along."""
