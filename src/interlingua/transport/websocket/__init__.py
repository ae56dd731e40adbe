"""Responses over a WebSocket as a transport: requests of HTTP, carried by a connection that stays open."""
