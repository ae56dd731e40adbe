"""Secrets: read late, shown never."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from interlingua.errors import ConfigError
from interlingua.registry.secret import MAX_KEY_BYTES, Secret

TOKEN = "tok-1234567890"


def test_a_secret_never_shows_itself() -> None:
    """repr, str and every kind of formatting give three stars."""
    secret = Secret.of_key(TOKEN)
    assert (repr(secret), str(secret), f"{secret}", f"{secret:>20}", f"{secret!r}") == ("***",) * 5
    assert secret.reveal() == TOKEN


def test_a_secret_is_not_pickled() -> None:
    """A pickle would hold the key in clear, so there is none; the error does not show it."""
    with pytest.raises(TypeError, match="cannot be pickled") as caught:
        pickle.dumps(Secret.of_key(TOKEN))
    assert TOKEN not in str(caught.value)


def test_a_copy_is_the_same_secret() -> None:
    """Copying does not spread the key."""
    secret = Secret.of_key(TOKEN)
    assert copy.copy(secret) is secret
    assert copy.deepcopy(secret) is secret


def test_the_first_variable_that_is_set_counts() -> None:
    """An empty variable is not set; a later change is seen."""
    environ = {"A_KEY": "", "B_KEY": "b"}
    secret = Secret.of_environment(lambda: environ, ("A_KEY", "B_KEY"))
    assert secret.reveal() == "b"
    environ["A_KEY"] = "a"
    assert secret.reveal() == "a"
    assert secret.source == "A_KEY or B_KEY"


def test_a_file_is_read_for_every_request(tmp_path: Path) -> None:
    """A rotated key counts at once; white space at the ends does not."""
    path = tmp_path / "key"
    path.write_text(" first\n")
    secret = Secret.of_file(str(path))
    assert secret.reveal() == "first"
    path.write_text("second")
    assert secret.reveal() == "second"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The error names the file and the reason."""
    with pytest.raises(ConfigError, match=r"the key file .*nowhere cannot be read: No such file or directory"):
        Secret.of_file(str(tmp_path / "nowhere")).reveal()


def test_a_file_that_is_too_long_is_refused_and_not_cut(tmp_path: Path) -> None:
    """Half a key would only be refused by the provider, which tells nobody why."""
    path = tmp_path / "key"
    path.write_text("k" * MAX_KEY_BYTES)
    assert Secret.of_file(str(path)).reveal() == "k" * MAX_KEY_BYTES
    path.write_text("k" * (MAX_KEY_BYTES + 1))
    with pytest.raises(ConfigError, match=r"the key file .*key is longer than 65,536 bytes$"):
        Secret.of_file(str(path)).reveal()


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    """What is not text is no key."""
    path = tmp_path / "key"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not text"):
        Secret.of_file(str(path)).reveal()


@pytest.mark.parametrize("path", ["\x00", "~nobody-of-that-name/key"])
def test_an_impossible_path_is_an_error_of_ours(path: str) -> None:
    """Whatever stands in key_file, nothing but ConfigError comes out."""
    with pytest.raises(ConfigError, match="cannot be read"):
        Secret.of_file(path).reveal()


def test_a_function_is_asked_each_time() -> None:
    """A credential that expires is renewed by its function."""
    keys = iter(["first", "second"])
    secret = Secret.of_key(lambda: next(keys))
    assert (secret.reveal(), secret.reveal()) == ("first", "second")
    assert secret.dynamic


@pytest.mark.parametrize("key", ["a\nb", "a\x00b", "schlüssel"])
def test_a_key_that_no_header_carries_is_refused(key: str) -> None:
    """A line break or a letter beyond ASCII would break the request apart; the key is not shown."""
    with pytest.raises(ConfigError) as caught:
        Secret.of_key(key, "WORK_KEY").reveal()
    assert str(caught.value) == "the key from WORK_KEY holds a character that a header cannot carry"


def test_no_key_is_none() -> None:
    """An empty key is no key."""
    assert Secret.of_key("  ").reveal() is None
    assert Secret.of_environment(dict, ()).reveal() is None
