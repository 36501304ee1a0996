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
        self.send(b"something else" * 100)

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
        self.send_header("Location", f"/good/{self.path.split('/')[-1]}")
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
            server.shutdown()
            thread.join()
