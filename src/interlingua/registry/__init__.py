"""From a model spec to addresses that can be called: specs, aliases, DSNs, rows, keys."""
