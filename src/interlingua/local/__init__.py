"""Local models: a real engine without a compiler, weights that are pulled once, one transport for both faces.

`transport` answers Chat Completions inside the process; `commands` is what `il models` does.
"""
