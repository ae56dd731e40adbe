"""Logins: one renewal at a time, before the end, off the event loop; failures in one sentence without a secret."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import interlingua as il
from interlingua.errors import APITimeoutError, AuthenticationError
from interlingua.registry.logins import renewal as renewals
from interlingua.registry.logins import table
from interlingua.registry.logins.bearer import BearerLogin, Token, issued_token
from interlingua.registry.logins.renewal import EARLY_S, MARGIN_S, Issued, Renewal, expires_at
from interlingua.registry.resolve import Registry
from interlingua.transport.base import Timeouts
from interlingua.transport.login import LoginCarrier
from interlingua.wire.http import HttpRequest

TOKEN = "tok-SECRET-0123456789"
REQUEST = HttpRequest(url="http://127.0.0.1:1/v1", body=b"{}")


def renewal(fetch: Callable[[], Issued[str]]) -> Renewal[str]:
    """A renewal of something that `fetch` gives."""
    return Renewal("login test", "log in", fetch)


def lasting(seconds: float) -> Callable[[], Issued[str]]:
    """Gives credentials that last so long, numbered."""
    count = iter(range(1, 100))
    return lambda: Issued(f"t{next(count)}", expires_at(time.time() + seconds))


def test_a_credential_is_fetched_once_while_it_holds() -> None:
    """Requests share a credential until shortly before its end."""
    renewed = renewal(lasting(EARLY_S + 60))
    assert [renewed.wait(5) for _ in range(3)] == ["t1", "t1", "t1"]


def test_one_that_ends_at_once_is_fetched_again() -> None:
    """A credential that holds no longer never goes out a second time."""
    renewed = renewal(lasting(MARGIN_S - 5))
    assert [renewed.wait(5) for _ in range(3)] == ["t1", "t2", "t3"]


def test_one_that_ends_soon_is_renewed_after_a_pause() -> None:
    """A credential near its end goes out until the pause between two renewals is over, and then is renewed."""
    renewed = renewal(lasting(EARLY_S / 2))
    assert [renewed.wait(5), renewed.wait(5)] == ["t1", "t1"]
    renewed._again_at_s = 0.0
    assert [renewed.wait(5), renewed.wait(5)] == ["t2", "t2"]


def test_many_threads_wait_for_one_renewal() -> None:
    """Ten threads that need a credential at once fetch it once."""
    go, fetched = threading.Event(), list[int]()

    def fetch() -> Issued[str]:
        go.wait(30)
        fetched.append(1)
        return Issued("t", expires_at(None))

    renewed, results = renewal(fetch), list[str]()
    threads = [threading.Thread(target=lambda: results.append(renewed.wait(30))) for _ in range(10)]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(30)
    assert (results, fetched) == (["t"] * 10, [1])


async def test_the_event_loop_runs_on_and_one_that_leaves_harms_nobody() -> None:
    """While a library blocks, the loop turns; a task that is cancelled leaves the renewal to the others."""
    go = threading.Event()

    def fetch() -> Issued[str]:
        go.wait(30)
        return Issued("t", expires_at(None))

    renewed = renewal(fetch)
    leaving, staying = (asyncio.create_task(renewed.awaited(30)) for _ in range(2))
    await asyncio.sleep(0.01)
    leaving.cancel()
    await asyncio.sleep(0.01)
    go.set()
    assert await staying == "t"
    assert leaving.cancelled()


def test_a_failed_renewal_leaves_what_still_holds() -> None:
    """Requests go out with the old credential as long as it holds, and the failure is told when it does not."""
    answers: list[Any] = [Issued("t1", expires_at(time.time() + 60)), ValueError("no\nsecond line")]

    def fetch() -> Issued[str]:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    renewed = renewal(fetch)
    assert renewed.wait(5) == "t1"
    renewed._again_at_s = 0.0
    assert renewed.wait(5) == "t1"
    renewed._issued = None
    answers.append(ValueError("no\nsecond line"))
    with pytest.raises(AuthenticationError) as caught:
        renewed.wait(5)
    assert caught.value.message == "login test gives no credential: no; log in"


def test_a_renewal_of_the_parent_process_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork begins its own renewal: the thread of the one that was under way is not there."""
    go = threading.Event()

    def fetch() -> Issued[str]:
        go.wait(30)
        return Issued("t", expires_at(None))

    renewed = renewal(fetch)
    before = renewed._begin()
    monkeypatch.setattr("interlingua.registry.logins.renewal.os.getpid", lambda: -1)
    after = renewed._begin()
    go.set()
    assert before is not after
    assert renewed._settled(after.result(30)) == "t"


class Peer:
    """A transport that notes what it is given."""

    def __init__(self) -> None:
        """Nothing was sent."""
        self.requests: list[HttpRequest] = []

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Any:
        """Nothing: the request is noted."""
        self.requests.append(request)

    def close(self) -> None:
        """Nothing is open."""

    def blocking(self) -> Any:
        """This, as its own carrier."""
        return self


def bearer(fetch: Callable[[], Issued[Token]]) -> BearerLogin:
    """A login by a token."""
    return BearerLogin("login test", "log in", fetch)


def test_the_headers_of_a_login_join_the_request() -> None:
    """A token replaces no header but its own; a caller's own authorization wins over it."""
    peer = Peer()
    login = bearer(lambda: Issued(Token(TOKEN, (("x-goog-user-project", "p"),)), expires_at(None)))
    transport = LoginCarrier(login, peer).blocking()  # pyright: ignore[reportArgumentType]  # a carrier in part
    transport.open(il_request(("accept", "x")), Timeouts())
    transport.open(il_request(("authorization", "Own")), Timeouts())
    assert [request.headers for request in peer.requests] == [
        (("accept", "x"), ("authorization", f"Bearer {TOKEN}"), ("x-goog-user-project", "p")),
        (("authorization", "Own"),),
    ]


def il_request(*headers: tuple[str, str]) -> HttpRequest:
    """A request with these headers."""
    return HttpRequest(url="http://127.0.0.1:1/v1", headers=headers)


def test_a_renewal_that_takes_too_long_is_a_timeout() -> None:
    """The deadline of the request holds for its login, too; the peer has not seen the request."""
    go = threading.Event()

    def fetch() -> Issued[Token]:
        go.wait(30)
        return Issued(Token(TOKEN), expires_at(None))

    transport = LoginCarrier(bearer(fetch), Peer()).blocking()  # pyright: ignore[reportArgumentType]  # a carrier in part
    with pytest.raises(APITimeoutError) as caught:
        transport.open(REQUEST, Timeouts(total_s=0.01))
    go.set()
    assert (caught.value.message, caught.value.phase) == ("login test gave no credential in time", "connect")
    assert not caught.value.reached


def test_no_text_of_a_login_holds_its_secret() -> None:
    """Neither repr nor the request of a login shows a token."""
    login = bearer(lambda: Issued(Token(TOKEN), expires_at(None)))
    headers = login.headers(REQUEST, 5)
    assert login.secrets() == (TOKEN,)
    assert TOKEN not in f"{login!r} {HttpRequest(url='http://h/', headers=headers)!r}"


def test_what_is_no_login_is_an_error() -> None:
    """An object that can do nothing that a login can is refused by its kind."""
    with pytest.raises(il.UsageError) as caught:
        table.login_of(3, "")
    assert caught.value.message == (
        "login takes aws, azure, google, a credential of azure-identity, google-auth or botocore, or a function that "
        "gives a token, not an int"
    )


def test_a_credential_that_has_to_be_awaited_is_refused() -> None:
    """Awaited credential objects are named as what they are."""

    class Awaited:
        async def get_token(self, scope: str) -> str:
            return scope

    with pytest.raises(il.UsageError, match="login takes a blocking credential, and an Awaited has to be awaited"):
        table.login_of(Awaited(), "")


def test_a_function_gives_a_token_for_each_request() -> None:
    """A function is asked each time, since it has its own cache; what is no token is an error without it."""
    tokens = iter(["one", "two"])
    login = table.login_of(lambda: next(tokens), "")
    assert [login.headers(REQUEST, 5) for _ in range(2)] == [
        (("authorization", "Bearer one"),),
        (("authorization", "Bearer two"),),
    ]
    with pytest.raises(
        AuthenticationError,
        match="login by a function gives no credential: it gave None as a token; the function has to give a token",
    ):
        table.login_of(lambda: None, "").headers(REQUEST, 5)


def test_models_of_a_process_share_a_login(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models of a provider have the same login; another profile is another one."""
    monkeypatch.setenv("LLM_WORK", "openai://host.example/v1?login=aws&region=eu-west-1")
    registry = Registry()
    with pytest.raises(il.ConfigError, match=r"work/a: login aws needs a service and a region to sign for"):
        registry.resolve("work/a")
    registry.register_provider(
        il.Provider(name="cloud", base_url="https://cloud.example", dialects=("openai-chat",), login_scope="s3/eu")
    )
    monkeypatch.setenv("LLM_WORK", "cloud://host.example?login=aws")
    (one,), (two,) = registry.resolve("work/a"), registry.resolve("work/b")
    assert one.login is two.login is not None
    monkeypatch.setenv("AWS_PROFILE", "other")
    assert registry.resolve("work/a")[0].login is not one.login


def test_a_login_and_a_key_are_one_too_many() -> None:
    """Two credentials are refused, in code and in a DSN."""
    with pytest.raises(il.UsageError, match="api_key and login are two credentials; give one"):
        il.model("openai/gpt-5.6", api_key="k", login="azure")
    with pytest.raises(il.ConfigError, match="more than one key; give a token, key_env, key_file or login"):
        Registry({"LLM_WORK": "openai://t@h?login=azure"}).resolve("work/a")
    with pytest.raises(il.ConfigError, match="LLM_WORK: login takes aws, azure or google"):
        Registry({"LLM_WORK": "openai://h?login=oracle"}).resolve("work/a")


def test_a_file_names_a_login(tmp_path: Path) -> None:
    """`login` stands beside the DSN in the file; what is none is an error with the table."""
    file = tmp_path / "gateway.toml"
    file.write_text('[providers.work]\ndsn = "azure://h.example"\nlogin = "azure"\n', encoding="utf-8")
    registry = Registry({})
    assert registry.load_config(file).problems == ()
    (endpoint,) = registry.resolve("work/a")
    assert repr(endpoint.login) == "<login azure>"
    assert endpoint.credential.origin() == "login azure"
    file.write_text('[providers.work]\ndsn = "azure://t@h.example"\nlogin = "azure"\n', encoding="utf-8")
    assert registry.load_config(file).problems == (
        "gateway.toml [providers.work]: more than one key; give a token, key_env, key_file or login",
    )


def test_a_login_is_not_sent_to_another_address() -> None:
    """A DSN's login is for its own address: base_url= elsewhere leaves it behind, unless the caller gives one."""
    registry = Registry({"LLM_WORK": "azure://h.example?login=azure"})
    assert registry.pointed(base_url="https://other.example").resolve("work/a")[0].login is None
    assert registry.pointed(base_url="https://h.example").resolve("work/a")[0].login is not None
    assert registry.pointed(base_url="https://other.example", login="azure").resolve("work/a")[0].login is not None


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the vendor's library the error says how to install it."""
    monkeypatch.setitem(__import__("sys").modules, "botocore.session", None)
    login = table.login_named("aws", "bedrock/eu-west-9", lambda _: None)
    with pytest.raises(il.ConfigError) as caught:
        login.headers(REQUEST, 5)
    assert caught.value.message == "login aws: it needs the [aws] extra: pip install 'interlingua[aws]'"


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("tok-SECRET\r\nx-admin: 1", "it gave a token that a header cannot carry"),
        ("tok SECRET", "it gave a token that a header cannot carry"),
        ("tok-SECRET-ä", "it gave a token that a header cannot carry"),
        ("S" * 70_000, "it gave a token that a header cannot carry"),
        ("", "it gave a token that is empty"),
        (None, "it gave None as a token"),
        (b"tok-SECRET", "it gave a bytes as a token"),
    ],
)
def test_a_token_that_no_header_can_carry_is_not_shown(token: Any, why: str) -> None:
    """A lying token endpoint writes no header of its own, and what it gave is in no error; `None` is never sent."""

    class Credential:
        def get_token(self, _: str) -> Any:
            return SimpleNamespace(token=token, expires_on=time.time() + 3_600)

    for value in (Credential(), lambda: token):
        with pytest.raises(AuthenticationError, match=why) as caught:
            table.login_of(value, "").headers(REQUEST, 5)
        assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("credential", "why"),
    [
        (("AKIA", None, None), "it gave None as a secret key"),
        (("AKIA\r\nx-admin: 1", "SECRET", None), "it gave an access key that a header cannot carry"),
        (("", "SECRET", None), "it gave an access key that is empty"),
        (("AKIA", "SECRET", "tok\nSECRET"), "it gave a session token that a header cannot carry"),
    ],
)
def test_a_credential_of_aws_that_no_header_can_carry_is_not_shown(credential: Any, why: str) -> None:
    """A broken credential object is a sentence for each request, not an error of the library's while it signs."""
    frozen = SimpleNamespace(**dict(zip(("access_key", "secret_key", "token"), credential, strict=True)))
    login = table.login_of(SimpleNamespace(get_frozen_credentials=lambda: frozen), "bedrock/us-east-1")
    with pytest.raises(AuthenticationError, match=why) as caught:
        login.headers(REQUEST, 5)
    assert "SECRET" not in str(caught.value)


def test_tokens_that_are_on_their_way_are_secrets() -> None:
    """A server may repeat the token of a request during which another one was issued; the oldest are forgotten."""
    tokens = iter([f"token-{number}" for number in (1, 2, 2, *range(3, 20))])
    login = table.login_of(lambda: next(tokens), "")
    for _ in range(3):
        login.headers(REQUEST, 5)
    assert login.secrets() == ("token-2", "token-1")
    for _ in range(17):
        login.headers(REQUEST, 5)
    assert login.secrets() == tuple([f"token-{number}" for number in range(19, 11, -1)])


def test_a_quota_project_that_no_header_can_carry_is_refused() -> None:
    """What stands beside a token is checked as well."""
    with pytest.raises(il.UsageError, match="a quota project that a header cannot carry"):
        issued_token("t", None, (("x-goog-user-project", "p\r\nx-admin: 1"),))


def test_a_thread_that_cannot_begin_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no thread left, requests get an error, and the next renewal begins anew."""

    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    renewed = renewal(lasting(EARLY_S + 60))
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refused)
        for _ in range(2):
            with pytest.raises(AuthenticationError, match="login test gives no credential: can't start new thread"):
                renewed.wait(5)
    assert renewed.wait(5) == "t1"


def test_an_error_that_cannot_be_shown_leaves_nobody_waiting() -> None:
    """An error of another's code whose text raises is named by its kind; a long text is cut."""

    class Mute(Exception):  # noqa: N818 - an error of another's code
        def __str__(self) -> str:
            raise ValueError("no text")

    def fetch() -> Issued[str]:
        raise Mute

    with pytest.raises(AuthenticationError, match="login test gives no credential: Mute; log in"):
        renewal(fetch).wait(5)


def test_a_login_by_name_needs_no_lock() -> None:
    """Threads that ask at once get one login; there is no lock that a fork could inherit while it is locked."""
    table._shared.clear()
    made: list[object] = []

    def ask() -> None:
        made.append(table.login_named("azure", "scope-of-a-test", os.environ.get))

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len({id(login) for login in made}) == 1


def test_a_renewal_that_hangs_makes_room_and_its_threads_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that never answers is given up after a while; at most four of its threads run, all of them daemons."""
    go, threads = threading.Event(), list[threading.Thread]()

    def fetch() -> Issued[str]:
        threads.append(threading.current_thread())
        number = len(threads)
        go.wait(30)
        return Issued(f"t{number}", expires_at(None))

    monkeypatch.setattr(renewals, "STUCK_S", -1.0)
    renewed = renewal(fetch)
    for _ in range(6):
        with pytest.raises(TimeoutError):
            renewed.wait(0.01)
    assert (len(threads), {thread.daemon for thread in threads}) == (renewals.MOST_THREADS, {True})
    go.set()
    for thread in threads:
        thread.join(30)
    assert (renewed.wait(5), renewed._threads) == ("t4", 0)


def test_a_late_credential_of_a_renewal_given_up_replaces_no_newer_one() -> None:
    """It counts where nothing else holds; beside one that does it is only one more text to be cut out of errors."""
    renewed = renewal(lasting(EARLY_S + 60))
    assert renewed.wait(5) == "t1"
    renewed._take(Issued("old", expires_at(None)), is_latest=False)
    assert (renewed.wait(5), renewed.recent()) == ("t1", ("old", "t1"))


def test_a_renewed_token_is_the_same_identity() -> None:
    """Health is kept by the login: what it knows of a target outlives each token, and another login has none of it."""
    tokens = iter(["first-token", "second-token"])

    def give() -> str:
        return next(tokens)

    here, there = (
        Registry({}).pointed(login=function).resolve("openai/gpt-5.6")[0] for function in (give, lambda: "other")
    )
    before = here.identity()
    assert here.login is not None
    sent = [here.login.headers(REQUEST, 5), here.login.headers(REQUEST, 5)]
    assert [dict(pairs)["authorization"] for pairs in sent] == ["Bearer first-token", "Bearer second-token"]
    assert here.identity() == before != there.identity()
