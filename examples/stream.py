"""A stream, piece by piece, and the whole reply at its end. One that is cut short says so and holds what came.

Run: INTERLINGUA_MODEL=openai/gpt-5.6 python examples/stream.py
"""

from __future__ import annotations

import interlingua as il


def main() -> None:
    """Print a story while it is told."""
    with il.model().stream("Tell me the story of the first telegraph, in three sentences.") as stream:
        try:
            for piece in stream.text_stream:
                print(piece, end="", flush=True)
        except il.IncompleteStreamError as error:
            so_far = error.partial.text if error.partial is not None else ""
            print(f"\n[cut after {len(so_far)} characters]")
            return
        reply = stream.finish()
    print(f"\n[{reply.finish_reason}, {reply.usage.output_tokens if reply.usage else '?'} tokens]")


if __name__ == "__main__":
    main()
