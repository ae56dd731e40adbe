"""The commands of `il`, one module each: `arguments` says what it takes, `run` does it."""
