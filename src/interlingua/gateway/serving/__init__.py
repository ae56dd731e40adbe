"""The gateway's own HTTP/1.1 server.

`reader` makes requests of bytes and `writer` bytes of replies, both without I/O; `connection` is one client's socket,
`response_writer` its way out, and `server` all of them from start to end.
"""
