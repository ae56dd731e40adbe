"""Templates: prompts and options under a name, for `il ask -t NAME`.

Rules
- A template is a file of TOML, `templates/NAME.toml` beside the conversations, which people may write by hand.
- `$input` in its prompt is the prompt of the command line with what stdin holds; without it they follow the prompt.
- Other `$words` are parameters (`-p lang=French`); one that is not given is an error that names it. `$$` is a dollar.
- What the command line says goes before what the template says.
"""

from __future__ import annotations

import re
import tomllib
from argparse import ArgumentTypeError
from string import Template as Text
from typing import TYPE_CHECKING, Any, cast

from interlingua.cli.asking import clean
from interlingua.cli.numbers import COUNT, SECONDS, TEMPERATURE
from interlingua.errors import ConfigError, UsageError
from interlingua.registry.home import state_directory

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

__all__ = [
    "apply_template",
    "fill_prompt",
    "read_template",
    "save_template",
    "template_arguments",
    "template_names",
    "template_path",
]

_TEXTS = ("model", "system", "prompt", "schema", "effort")
_NUMBERS = {"max_tokens": COUNT, "temperature": TEMPERATURE, "timeout": SECONDS}
_LISTS = ("tool", "option")
_KEYS = (*_TEXTS, *_NUMBERS, *_LISTS)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def template_arguments(parser: ArgumentParser) -> None:
    """Say which template is taken or made."""
    parser.add_argument("-t", "--template", metavar="NAME", help="use the prompt and options of this template")
    parser.add_argument(
        "-p", "--param", action="append", default=[], metavar="KEY=VALUE", help="a value for $KEY in the template"
    )


def template_path(name: str) -> Path:
    """Where a template lies; it need not exist.

    Raises: UsageError for what is no name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"template {name!r}: a name has letters, digits, `-`, `_` and `.`, 64 at most")
    return state_directory() / "templates" / f"{name}.toml"


def template_names() -> list[str]:
    """The names of all templates."""
    return sorted(path.stem for path in (state_directory() / "templates").glob("*.toml"))


def read_template(name: str) -> dict[str, Any]:
    """The members of a template.

    Raises: UsageError when there is none; ConfigError, with the file and the place, for one that is wrong.
    """
    path = template_path(name)
    try:
        members = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        from interlingua.registry.spec import near

        raise UsageError(f"there is no template {name}{near(name, tuple(template_names()))}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # no TOML, or no UTF-8
        raise ConfigError(f"{path}: {error}") from None
    for key, value in members.items():
        if key not in _KEYS:
            raise ConfigError(f"{path}: {key} is not known here; there are {', '.join(_KEYS)}")
        if not _fits(key, value):
            kind = "a text" if key in _TEXTS else "a number" if key in _NUMBERS else "a list of texts"
            raise ConfigError(f"{path}: {key} is {kind}")
        if key in _NUMBERS:
            try:
                _NUMBERS[key](str(value))
            except ArgumentTypeError as error:
                raise ConfigError(f"{path}: {key} {error}") from None
    return members


def _fits(key: str, value: object) -> bool:
    if key in _TEXTS:
        return isinstance(value, str)
    if key in _NUMBERS:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, list) and all(isinstance(item, str) for item in cast("list[object]", value))


def apply_template(options: Namespace) -> None:
    """Have the options say what their template says, where the command line says nothing.

    Raises: UsageError and ConfigError for a template that cannot be taken.
    """
    options.template_prompt = None
    if options.template is None:
        if options.param:
            raise UsageError("-p sets a parameter of a template; name one with -t")
        return
    members = read_template(options.template)
    options.template_prompt = members.pop("prompt", None)
    for key, value in members.items():
        if key in _LISTS:
            setattr(options, key, [*value, *getattr(options, key, [])])
        elif getattr(options, key, None) is None:
            setattr(options, key, value)


def fill_prompt(options: Namespace, text: str) -> str:
    """The prompt of the options' template with its parameters; `text` is the prompt of the command line.

    Raises: UsageError for a parameter that is not given or not used, and for a `$` that begins nothing.
    """
    prompt = options.template_prompt
    values = dict(map(_parameter, options.param))
    if prompt is None:
        if values:
            raise UsageError(f"template {options.template} has no prompt, so it has no parameters")
        return text
    template = Text(prompt)
    if not template.is_valid():
        raise ConfigError(f"template {options.template}: write $$ for a dollar that begins no parameter")
    names = template.get_identifiers()
    for name in values:
        if name not in names or name == "input":
            own = [parameter for parameter in names if parameter != "input"]
            hint = f"it has {', '.join(own)}" if own else "it has none"
            raise UsageError(f"template {options.template} has no parameter {name}; {hint}")
    missing = [name for name in names if name not in values and name != "input"]
    if missing:
        raise UsageError(f"template {options.template} needs -p {missing[0]}=VALUE")
    filled = template.substitute(values, input=text)
    return filled if "input" in names or not text else f"{filled}\n\n{text}"


def _parameter(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator:
        raise UsageError(f"-p {text}: write KEY=VALUE, as in lang=French")
    return key.strip(), value


def save_template(name: str, options: Namespace) -> None:
    """Write the options of a command line as a template; a template of that name is replaced.

    Raises: UsageError for what is no name or holds nothing; ConfigError when it cannot be written.
    """
    import json

    path = template_path(name)
    values = {key: getattr(options, key, None) for key in _KEYS} | {"prompt": " ".join(options.prompt) or None}
    values = {key: clean(value) if isinstance(value, str) else value for key, value in values.items()}
    members = {key: value for key, value in values.items() if value not in (None, [])}
    if not members:
        raise UsageError("--save: nothing to save; give a prompt, -s, -m or other options")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # TOML writes texts, numbers and lists of texts as JSON does, DEL apart.
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in members.items()]
        path.write_text("".join(lines).replace("\x7f", "\\u007f"), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
