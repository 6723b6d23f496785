"""A secret reaches its own host and no text."""

from __future__ import annotations

import logging

import pytest
from fault_server import QUICK, FaultServer, Request, known, noise, source
from hypothesis import given
from hypothesis import strategies as st

from ops.fetch import AllUrlsFailed, credentials, fetch
from ops.storage import Root

DATA = noise(5000)
SECRET = "s3cr3t-t0ken"


def stored_text(root: Root) -> str:
    """All text under the root: receipts, reasons, notes in scratch."""
    return "\n".join(
        root.read_bytes(name).decode() for name in root.list("") if name.endswith(".json")
    )


def bearer(request: Request) -> bool:
    return request.headers.get("Authorization") == f"Bearer {SECRET}"


def test_a_token_opens_a_gated_host(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.put("/a.tar", DATA, allow=bearer)
    with pytest.raises(AllUrlsFailed, match="SHIFTLAKE_TOKEN_127_0_0_1 "):
        fetch(root, known(url, DATA), patience=QUICK)
    monkeypatch.setenv("SHIFTLAKE_TOKEN_127_0_0_1", SECRET)
    fetch(root, known(url, DATA))
    assert SECRET not in stored_text(root)


def test_a_token_may_name_the_port(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"SHIFTLAKE_TOKEN_127_0_0_1_{server.server_port}", SECRET)
    fetch(root, known(server.put("/a.tar", DATA, allow=bearer), DATA))


def test_a_cookie_opens_a_gated_host(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIFTLAKE_COOKIE_127_0_0_1", "session=" + SECRET)
    url = server.put(
        "/a.tar", DATA, allow=lambda request: request.headers.get("Cookie") == f"session={SECRET}"
    )
    fetch(root, known(url, DATA))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_secret_crosses_to_another_host(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("SHIFTLAKE_TOKEN_127_0_0_1", SECRET)
    monkeypatch.setenv("SHIFTLAKE_COOKIE_127_0_0_1", "session=" + SECRET)
    server.put("/b.tar", DATA)
    location = {"Location": f"{server.other_url}/b.tar"}
    url = server.put("/a.tar", status=status, headers=location, cookies=["given=1; Path=/"])
    fetch(root, known(url, DATA))
    first, second = server.requests
    assert bearer(first)
    assert first.headers["Cookie"] == f"session={SECRET}"
    assert "Authorization" not in second.headers
    assert "Cookie" not in second.headers


def test_a_secret_stays_on_a_redirect_within_the_host(
    server: FaultServer, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIFTLAKE_TOKEN_127_0_0_1", SECRET)
    server.put("/b.tar", DATA, allow=bearer)
    fetch(root, known(server.put("/a.tar", status=302, headers={"Location": "/b.tar"}), DATA))


def test_a_secret_of_the_bare_host_is_not_sent_to_another_port_by_a_redirect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHIFTLAKE_TOKEN_HOST", SECRET)
    headers = credentials.request_headers
    assert headers("https://host/a", "https://host/b")
    assert headers("https://host/a", "http://host/b"), "an upgrade to https keeps it"
    assert headers("https://host:8443/a"), "asked for by the user it is the host's own"
    assert not headers("https://host:8443/a", "https://host/b")
    assert not headers("http://host/a", "https://host/b"), "never from https down to http"
    assert not headers("https://host.evil/a", "https://host/b")


def test_user_and_password_of_a_url_work_and_are_not_written(
    server: FaultServer, root: Root, log: list[str]
) -> None:
    url = server.put(
        "/a.tar",
        DATA,
        allow=lambda request: request.headers.get("Authorization") == "Basic bWU6czNjcjN0LXQwa2Vu",
        spoil=[{"status": 503}],
    )
    private = url.replace("http://", f"http://me:{SECRET}@")
    receipt = fetch(root, known(private, DATA), log=log.append, patience=QUICK)
    assert receipt.url == url
    assert SECRET not in stored_text(root) + "".join(log)


def test_secrets_never_appear_in_any_text(
    server: FaultServer,
    root: Root,
    log: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SHIFTLAKE_TOKEN_127_0_0_1", SECRET)
    monkeypatch.setenv("SHIFTLAKE_COOKIE_127_0_0_1", f"id={SECRET}-cookie")
    signed = "?X-Amz-Signature=51gnature&sig=51gnature&download=1"
    paths = ["/gone.tar", "/page.tar", "/wrong.tar", "/cut.tar"]
    server.put(paths[1] + signed, f"<html><title>{SECRET}</title>".encode())
    server.put(paths[2] + signed, noise(len(DATA), seed=1))
    server.put(paths[3] + signed, DATA, ranges=False, spoil=[{"cut": 10}] * 9)
    hidden = server.put("/hop", status=302, headers={"Location": "/far" + signed})
    urls = [
        f"{server.url}{path}{signed}".replace("http://", f"http://me:{SECRET}@") for path in paths
    ]
    with pytest.raises(AllUrlsFailed) as failed:
        fetch(root, known(*urls[:1], DATA, *urls[1:], hidden), log=log.append, patience=QUICK)
    chain, error = [], failed.value
    while error is not None:
        chain.append(f"{error!r} {error}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    written = "\n".join([*chain, *log, caplog.text, stored_text(root)])
    assert "/page.tar?download=1" in written, "what is harmless stays readable"
    assert SECRET not in written
    assert "51gnature" not in written
    receipt = fetch(root, source(f"{server.url}{paths[2]}{signed}"), log=log.append)
    assert receipt.url == f"{server.url}/wrong.tar?download=1"
    assert "51gnature" not in stored_text(root) + "".join(log)


@given(
    user=st.text(st.characters(categories=["L", "N"]), min_size=1),
    name=st.text(st.characters(categories=["Lu", "Ll"]), min_size=1),
)
def test_a_clean_url_has_neither_user_nor_unknown_parameter(user: str, name: str) -> None:
    url = f"https://{user}:SECRETPASS@host.org/a.tar?{name}=SECRETSIGN#SECRETFRAGMENT"
    cleaned = credentials.clean(url)
    harmless = name.lower() in ("id", "export", "download", "versionid")
    assert ("SECRETSIGN" in cleaned) == harmless
    assert "SECRETPASS" not in cleaned
    assert "SECRETFRAGMENT" not in cleaned
    assert cleaned.startswith("https://host.org/a.tar")
    assert credentials.clean(cleaned) == cleaned
