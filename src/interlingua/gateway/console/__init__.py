"""The console: one page at `/` that shows what the gateway does, and the routes that the page asks.

Shape: `page` serves the page and its files, `feed` and `live` show requests while they come, `health` shows targets and
takes them out, `side_by_side` shows one request in every dialect, `usage` shows keys; `access` says who may see what.
"""
