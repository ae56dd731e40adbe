"""`il ask`: one question, one answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interlingua.cli.asking import (
    EXIT_CODES,
    conversation_arguments,
    conversation_of,
    model_arguments,
    model_of,
    question_of,
    repair_argument,
    request_arguments,
)
from interlingua.cli.conversing import converse, manner_arguments, manner_of
from interlingua.cli.drilling import drilling, fault_argument
from interlingua.cli.outcome import FAILED
from interlingua.cli.templates import apply_template, save_template, template_arguments
from interlingua.cli.terminal import write
from interlingua.types.content import RefusalPart

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = f"""\
The text of stdin is appended to the prompt. The answer goes to stdout as it arrives, notes go to stderr.

examples:
  il ask -m local/tiny "One line on Oslo, please."
  il ask "What failed?" < build.log
  git diff | il ask -s "You write commit messages." > message.txt
  il ask -c "Shorter."                                        continues the last conversation
  il ask --name work "Where were we?"                         continues the conversation `work`, or begins it
  il ask -x "A Bash line that counts files." | sh             the code block alone
  il ask --schema 'name, age int' "Invent a person."          a schema of fields
  il ask -t brief -p lang=French < article.txt                a template: see `il templates --help`
  il ask "What is this?" --image photo.jpg --usage
  il ask "Weather in Oslo?" --tool mytools.py:get_weather     runs the function when the model calls it
  il ask "Read this." --file invoice.pdf --schema models:Invoice | jq .total
  il ask -m openai/gpt-5.6,local/tiny --option seed=7 "Hi"    a chain; any option of il.model
  il ask -m smart --fault 'openai/*=429' "Hi"                 a failover drill: an outage of OpenAI

{EXIT_CODES}"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    request_arguments(parser)
    repair_argument(parser)
    model_arguments(parser)
    conversation_arguments(parser)
    template_arguments(parser)
    parser.add_argument("--save", metavar="NAME", help="save prompt and options as a template, and send nothing")
    parser.add_argument("--json", action="store_true", help="the whole response as canonical JSON on stdout")
    parser.add_argument("-x", "--code", action="store_true", help="print only the first code block of the answer")
    manner_arguments(parser)
    fault_argument(parser)


def run(options: Namespace) -> int:
    """Ask."""
    if options.save is not None:
        save_template(options.save, options)
        return 0
    apply_template(options)
    conversation = conversation_of(options)
    question = question_of(options)
    model = model_of(options, conversation.model)
    silent = options.json or options.code or options.schema is not None
    with drilling(options.fault) as tell:
        reply = converse(model, question, conversation.reply, manner_of(options, silent=silent))
        tell(reply.attempts)
    if options.code and not options.json:
        match = _BLOCK.search(reply.text)  # without its fence; the whole answer where there is no code
        write(f"{match['code'] if match else reply.text}\n")
    elif options.json:
        from interlingua.types.dump import dump

        write(f"{dump(reply)}\n")
    elif silent:
        import json

        from interlingua.tools.result import content_of
        from interlingua.types.content import Json

        content = content_of(reply.output)
        value = content.value if isinstance(content, Json) else content
        write(f"{json.dumps(value, indent=2, ensure_ascii=False)}\n")
    conversation.add(question.prompt, reply)
    is_refused = not reply.text and any(isinstance(part, RefusalPart) for part in reply.parts)
    return FAILED if is_refused else 0


_BLOCK = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<code>.*?)\n?^ {0,3}(?P=fence)[`~]*\s*$", re.MULTILINE | re.DOTALL
)
