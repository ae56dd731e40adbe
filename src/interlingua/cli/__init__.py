"""The `il` command: one shot, chat, what would be sent, and what this machine has."""
