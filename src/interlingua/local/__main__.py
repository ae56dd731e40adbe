"""`python -m interlingua.local list | pull NAME | path NAME`: what `il models` does, before `il` is there."""

from __future__ import annotations

import sys

from interlingua.errors import Error
from interlingua.local.commands import list_models, path_of, pull_model

USAGE = "usage: python -m interlingua.local list | pull NAME | path NAME"


def main(arguments: list[str]) -> int:
    """The exit code: 0 when it worked, 1 when it did not, 2 for a command that is not known."""
    try:
        match arguments:
            case ["list"]:
                list_models()
            case ["pull", name]:
                pull_model(name)
            case ["path", name]:
                path_of(name)
            case _:
                sys.stderr.write(f"{USAGE}\n")
                return 2
    except Error as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
