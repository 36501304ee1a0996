"""The server bears with slow and malformed viewers: few threads, none for ever, the same headers on every answer."""

import socket
import threading
import urllib.error
import urllib.request
from contextlib import suppress

import pytest

from merlin_cl.report.page.render import policy
from merlin_cl.report.watch import Watch
from merlin_cl.report.watch_server import ASKING, CONNECTIONS, HOST, WatchServer
from patience import PATIENCE, wait_for

SLOW = 200


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def server(tmp_path, clock):
    with WatchServer(Watch([tmp_path / "runs"], rest=0), 0, clock) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def connect(server, said=b"GET / HTTP/1.1\r\nHost: 127"):
    """A viewer who begins to ask and does not go on."""
    made = socket.create_connection((HOST, server.server_port), timeout=PATIENCE)
    made.sendall(said)
    return made


def get(server, path="live"):
    with urllib.request.urlopen(server.url + path, timeout=PATIENCE) as answer:
        return answer.read()


def handlers():
    return [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]


def test_slow_viewers_hold_few_threads_and_keep_nobody_out(server):
    slow = []
    try:
        for number in range(SLOW):
            slow.append(connect(server))
            if number % 50 == 49:
                assert get(server)  # a place is made for who asks
        wait_for(lambda: len(handlers()) <= CONNECTIONS + 1)
        assert server.connections <= CONNECTIONS
        assert get(server)
    finally:
        for one in slow:
            one.close()
    wait_for(lambda: not handlers())
    assert server.connections == 0


def test_who_does_not_ask_in_time_is_let_go(server, clock):
    silent, dripping = connect(server, b""), connect(server)
    wait_for(lambda: server.connections == 2)
    clock.now += ASKING - 1
    dripping.sendall(b".0.0.1\r\nX: ")
    assert get(server)
    wait_for(lambda: server.connections == 2)
    clock.now += 2  # a byte now and then gains no time
    assert silent.recv(100) == dripping.recv(100) == b""
    wait_for(lambda: server.connections == 0)
    silent.close()
    dripping.close()


def test_who_asks_while_all_are_being_answered_is_turned_away(server):
    taken = [object() for _ in range(CONNECTIONS)]
    server._open |= dict.fromkeys(taken)
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        get(server)
    server._open.clear()
    assert get(server)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", b"200"),
        (b"GET /live HTTP/1.1\r\nHost: localhost:1\r\n\r\n", b"200"),
        (b"GET /nothing HTTP/1.1\r\nHost: localhost:1\r\n\r\n", b"404"),
        (b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", b"403"),
        (b"GET / HTTP/1.1\r\n\r\n", b"403"),
        (b"POST / HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 9999999999\r\n\r\n", b"501"),
        (b"GET / HTTP/9.9\r\n\r\n", b"505"),
        (b"GET " + b"/" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", b"431"),
        (b"nonsense without end here\r\n\r\n", b"400"),
    ],
)
def test_every_answer_has_the_headers_that_keep_it_safe(server, said, status):
    with connect(server, said) as viewer:
        answer = b""
        with suppress(ConnectionResetError):  # what was not read of a request too long
            while block := viewer.recv(1 << 16):
                answer += block
    head = answer.partition(b"\r\n\r\n")[0]
    assert head.split()[1] == status
    assert f"Content-Security-Policy: {policy(live=True)}; frame-ancestors 'none'".encode() in head
    for header in (b"X-Frame-Options: DENY", b"X-Content-Type-Options: nosniff", b"Cache-Control: no-store"):
        assert header in head


def test_a_viewer_who_goes_away_is_no_error(server, capsys):
    for _ in range(5):
        connect(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n").close()
    assert get(server)
    assert capsys.readouterr().err == ""


def test_a_page_that_cannot_be_made_is_one_line(server, capsys, monkeypatch):
    monkeypatch.setattr(Watch, "page", lambda self: 1 / 0)
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        get(server, "")
    wait_for(lambda: "ZeroDivisionError" in capsys.readouterr().err)
    assert get(server)
