"""Any server of a dialect, judged: ours or another's.

`python -m interlingua.testing.conformance --url URL --dialect D [--model M] [--key K]` asks the server whole and
streamed for text, tools, parallel calls, results with errors, structured output, images, stop reasons and errors, and
prints a table of checks and reasons. Nothing here imports a dialect.
"""

from __future__ import annotations

from interlingua.testing.conformance.checks import CHECKS, Check, Outcome, Report, check_server

__all__ = ["CHECKS", "Check", "Outcome", "Report", "check_server"]
