"""Keys of the gateway: authentication, permissions, and limits."""
