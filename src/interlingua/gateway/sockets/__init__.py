"""Connections on which a client asks again and again: the session of a WebSocket, whoever serves its frames."""
