"""A YAML file as plain values, and the paths of everything that stands in it.

Rules
- Only plain YAML is read: no tags that make objects, no key twice, nothing nested without end.
- An error names the file and the line, and holds nothing of the text: any of it may be a key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from interlingua.errors import ConfigError

if TYPE_CHECKING:
    import yaml

__all__ = ["EXTRA", "MAX_LEAVES", "Tree", "is_leaf", "leaves", "read_yaml", "table_of"]

Tree: TypeAlias = "dict[str, Any]"
"""A mapping of the file, its keys as text."""

EXTRA = "reading YAML needs the [yaml] extra: pip install 'interlingua[yaml]'"
"""The advice where the reader is missing."""
MAX_LEAVES = 50_000
"""How many values a file may hold, those that an anchor repeats counted each time."""
_MAX_DEPTH = 40


def read_yaml(text: str, name: str) -> Tree:
    """The mapping that a YAML document holds.

    Raises: ConfigError for what is no plain YAML, no mapping, or too much; and without the extra.
    """
    try:
        import yaml
    except ImportError:
        raise ConfigError(EXTRA) from None
    try:
        # The types of the library leave this one function open.
        whole = cast("yaml.Node | None", cast("Any", yaml).compose(text, Loader=yaml.SafeLoader))
        _refuse_twins(whole, name, set())
        loaded: object = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f" line {error.problem_mark.line + 1}"
        raise ConfigError(f"{name}{line}: not YAML that can be read") from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ConfigError(f"{name}: not YAML that can be read") from None
    if not isinstance(loaded, dict):
        raise ConfigError(f"{name}: not a mapping; the configuration of a LiteLLM proxy begins with model_list")
    return cast("Tree", _plain(cast("object", loaded), name, 0, [0]))


def _refuse_twins(node: yaml.Node | None, name: str, nodes: set[int]) -> None:
    """Refuse a key that stands twice in one mapping: of the two, one would be lost in silence."""
    import yaml

    if id(node) in nodes:  # an anchor brings the same node again
        return
    nodes.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_twins(item, name, nodes)
    elif isinstance(node, yaml.MappingNode):
        words: set[str] = set()
        for key, value in node.value:
            word = str(key.value)
            if word in words and word != "<<":
                raise ConfigError(f"{name} line {key.start_mark.line + 1}: a key that stands twice in its mapping")
            words.add(word)
            _refuse_twins(value, name, nodes)


def _plain(value: object, name: str, depth: int, count: list[int]) -> object:
    """The value with keys that are text, as a tree: what an anchor repeats is there each time."""
    count[0] += 1
    if depth > _MAX_DEPTH:
        raise ConfigError(f"{name}: nested too deeply")
    if count[0] > MAX_LEAVES:
        raise ConfigError(f"{name}: more than {MAX_LEAVES} values")
    if isinstance(value, dict):
        members = cast("dict[object, object]", value).items()
        return {str(key): _plain(member, name, depth + 1, count) for key, member in members}
    if isinstance(value, list):
        return [_plain(item, name, depth + 1, count) for item in cast("list[object]", value)]
    return value


def is_leaf(value: object) -> bool:
    """Whether a value has no members of its own."""
    return not isinstance(value, dict | list) or not value


def leaves(value: object, path: str = "") -> Iterator[str]:
    """The path of every leaf, in the order of the file; an empty mapping or list is one, too."""
    if is_leaf(value):
        yield path
    elif isinstance(value, dict):
        for key, member in cast("Tree", value).items():
            yield from leaves(member, f"{path}.{key}" if path else key)
    else:
        for index, item in enumerate(cast("list[object]", value)):
            yield from leaves(item, f"{path}[{index}]")


def table_of(tree: Tree, name: str) -> Tree:
    """The mapping that stands under a name; an empty one where nothing does, or something else."""
    value: object = tree.get(name)
    return cast("Tree", value) if isinstance(value, dict) else {}
