"""The page that serves the report: this machine's browser sees it, and nothing else is served."""

import http.client

import pytest

from ops.storage import open_root, paths
from pipelines.report_page import serve_report


@pytest.fixture
def page(tmp_path):
    root = open_root(tmp_path / "lake")
    root.write_bytes("secret.txt", b"not for anybody")
    with serve_report(root, 0) as address:
        yield root, int(address.rsplit(":", 1)[1].split("/")[0])


def ask(port, path, host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_the_report_is_read_as_it_is_asked_for(page):
    root, port = page
    status, text = ask(port, "/report.html")
    assert status == 404
    assert b"shiftlake report" in text
    for content in (b"<p>one</p>", b"<p>two</p>"):
        root.write_bytes(paths.results("report.html"), content)
        assert ask(port, "/") == (200, content)
        assert ask(port, "/report.html") == (200, content)


@pytest.mark.parametrize("path", ["/secret.txt", "/../secret.txt", "/report.html/../secret.txt"])
def test_nothing_else_is_served(page, path):
    status, text = ask(page[1], path)
    assert status == 404
    assert b"not for anybody" not in text


def test_another_name_for_this_machine_is_refused(page):
    root, port = page
    root.write_bytes(paths.results("report.html"), b"<p>mine</p>")
    assert ask(port, "/", host=f"evil.example:{port}")[0] == 403
    assert ask(port, "/", host=f"localhost:{port}")[0] == 200
