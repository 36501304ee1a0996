"""A real HTTP server on loopback that misbehaves as it is told, one way for each path."""

import re
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = bytes(range(256)) * 4000  # about a megabyte, several blocks


class Misbehaving(BaseHTTPRequestHandler):
    """/<behaviour>/<name>; what a request said is kept in `server.asked`."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        behaviour = self.path.split("/")[1]
        self.server.asked.append((behaviour, self.headers.get("Range")))
        getattr(self, f"be_{behaviour}")(self.server.contents.get(self.path.split("/")[-1], CONTENT))

    def send(self, content, ranges=True, announced=None, upto=None, kind=None):
        start = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if asked and ranges:
            start = int(asked[1])
            if start >= len(content):
                return self.send_error(416)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        rest = content[start:]
        if announced != "":
            self.send_header("Content-Length", str(len(rest) if announced is None else announced))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(rest[:upto])
        self.wfile.flush()
        self.close_connection = True
        return None

    def be_good(self, content):
        self.send(content)

    def be_unable_to_resume(self, content):
        self.send(content, ranges=False)

    def be_silent_about_length(self, content):
        self.send(content, announced="")

    def be_cut_once(self, content):
        """Breaks off in the middle, and goes on when asked to."""
        self.send(content, upto=None if self.headers.get("Range") else len(content) // 3)

    def be_always_cut(self, content):
        self.send(content, upto=1000)

    def be_dead_after_a_while(self, content):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:5000])
        self.wfile.flush()
        time.sleep(1.0)
        self.close_connection = True

    def be_wrong(self, content):
        """As long as the right one."""
        self.send(content[::-1])

    def be_too_long(self, content):
        self.send(content + b"and more")

    def be_endless(self, content):
        """Says nothing of its length and never ends."""
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        while True:  # until we hang up
            self.wfile.write(content)

    def be_dripping(self, content):
        """A byte now and then."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        for at in range(20):
            self.wfile.write(content[at : at + 1])
            time.sleep(0.01)

    def be_long_in_its_headers(self, content):
        """Sends headers so slowly that no single wait is long."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not self.server.closing.is_set():
            self.wfile.write(b"X: y\r\n")
            self.wfile.flush()
            time.sleep(0.02)

    def be_chatty(self, content):
        """Puts into its reason what a terminal would obey."""
        self.wfile.write(b"HTTP/1.1 404 \x1b[31m" + b"word " * 100 + b"\r\nContent-Length: 0\r\n\r\n")
        self.close_connection = True

    def be_wrong_when_resumed(self, content):
        self.send(b"x" * len(content) if self.headers.get("Range") else content)

    def be_too_short(self, content):
        """Announces less than there is: what arrives looks whole."""
        self.send(content[:2000])

    def be_boasting(self, content):
        """Announces more than there is."""
        self.send(content, announced=len(content) + 100)

    def be_empty(self, content):
        self.send(b"")

    def be_missing(self, content):
        self.send_error(404)

    def be_broken(self, content):
        self.send_error(500)

    def be_moved(self, content):
        self.send_response(302)
        self.send_header("Location", self.server.elsewhere or f"/good/{self.path.split('/')[-1]}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def be_moving_for_ever(self, content):
        self.send_response(302)
        self.send_header("Location", self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Misbehaving)
        self.asked = []
        self.contents = {}
        self.elsewhere = ""
        self.closing = threading.Event()

    def handle_error(self, *_):
        """A client that hangs up is no error here."""

    def url(self, behaviour, name="file.bin"):
        return f"http://127.0.0.1:{self.server_port}/{behaviour}/{name}"


@contextmanager
def running():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()
