"""A fetched file is whole and right or not there at all, whatever the server does."""

import hashlib
import itertools
import multiprocessing
import socket
from dataclasses import replace

import pytest

from merlin_cl.streams.catalogue import Download
from merlin_cl.streams.catalogue.connection import Patience
from merlin_cl.streams.catalogue.download import FetchError, fetch
from streams.server import CONTENT, running

MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"
SHA256 = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


IMPATIENT = Patience(silence=0.4, pause=0, attempts=2)


@pytest.fixture
def server():
    with running() as server:
        yield server


@pytest.fixture
def target(tmp_path):
    return tmp_path / "folder" / "file.bin"


def download(*urls, checksum=MD5):
    return Download("file.bin", urls, len(CONTENT), checksum)


def run(wanted, target, **patience):
    seen = []
    fetch(wanted, target, lambda there, total: seen.append((there, total)), replace(IMPATIENT, **patience))
    return seen


def left(target):
    return sorted(file.name for file in target.parent.iterdir())


@pytest.mark.parametrize("checksum", [MD5, SHA256, None])
@pytest.mark.parametrize("behaviour", ["good", "unable_to_resume", "silent_about_length", "cut_once", "moved"])
def test_what_can_be_had_is_had(server, target, behaviour, checksum):
    run(download(server.url(behaviour), checksum=checksum), target)
    assert target.read_bytes() == CONTENT
    assert left(target) == ["file.bin"]


def test_progress_is_told_up_to_the_end(server, target):
    seen = run(download(server.url("good")), target)
    assert len(seen) > 2
    assert seen == sorted(seen)
    assert seen[-1] == (len(CONTENT), len(CONTENT))


@pytest.mark.parametrize(
    ("behaviour", "sentence", "kept"),
    [
        ("always_cut", r"broke off after [\d,]+ of [\d,]+ bytes", True),
        ("dead_after_a_while", r"broke off \(no answer in time\)", True),
        ("wrong", "sent something else .md5:.* instead of md5:", False),
        ("too_short", "offers 2,000 bytes instead of 1,024,000", False),
        ("too_long", "offers 1,024,008 bytes instead of 1,024,000", False),
        ("boasting", "offers 1,024,100 bytes instead of 1,024,000", False),
        ("endless", "sends more than the 1,024,000 bytes that were declared", False),
        ("moving_for_ever", r"answered 302 \(.*infinite loop", False),
        ("chatty", r"answered 404 \(\[31mword word [a-z ]*\.\.\.\)", False),
        ("empty", "offers 0 bytes instead of 1,024,000", False),
        ("missing", r"answered 404 \(Not Found\)", False),
        ("broken", r"answered 500 \(Internal Server Error\)", False),
    ],
)
def test_what_goes_wrong_is_told_and_leaves_nothing_under_the_final_name(server, target, behaviour, sentence, kept):
    with pytest.raises(FetchError, match=rf"file\.bin could not be fetched: http\S+ {sentence}") as raised:
        run(download(server.url(behaviour)), target)
    assert left(target) == (["file.bin.part"] if kept else [])
    assert ("the next try goes on from there" in str(raised.value)) == kept


@pytest.mark.parametrize("checksum", [MD5, None])
@pytest.mark.parametrize("behaviour", ["too_long", "endless", "boasting"])
def test_never_is_more_written_than_was_declared(server, target, behaviour, checksum):
    seen = []
    with pytest.raises(FetchError, match="bytes"):
        fetch(
            download(server.url(behaviour), checksum=checksum),
            target,
            lambda there, total: seen.append((target.parent / "file.bin.part").stat().st_size),
            IMPATIENT,
        )
    assert max(seen, default=0) <= len(CONTENT)
    assert left(target) == []


def test_where_the_size_is_not_known_to_the_byte_it_is_the_most(server, target):
    about = replace(download(server.url("good"), checksum=None), size=2 * len(CONTENT), exact=False)
    run(about, target)
    assert target.read_bytes() == CONTENT
    for behaviour in ("good", "endless", "silent_about_length"):
        with pytest.raises(
            FetchError, match=r"offers 1,024,000 bytes instead of at most|sends more than the 1,023,999"
        ):
            run(replace(about, urls=(server.url(behaviour),), size=len(CONTENT) - 1), target)


@pytest.mark.parametrize("scheme", ["https", "ftp", "file", "gopher"])
def test_nobody_sends_us_on_to_another_scheme(server, target, scheme):
    server.elsewhere = f"{scheme}://127.0.0.1:{server.server_port}/good/file.bin"
    with pytest.raises(FetchError, match=rf"moved/file\.bin (sends us on from http to {scheme}|answered 302)"):
        run(download(server.url("moved")), target)
    assert [behaviour for behaviour, _ in server.asked] == ["moved"]
    assert left(target) == []


def test_a_mirror_that_is_too_slow_is_given_up(server, target):
    """By a clock of its own: every look at it is ten seconds after the last."""
    clock = itertools.count(0, 10).__next__
    with pytest.raises(FetchError, match="sends fewer than 10,000 bytes a second"):
        run(download(server.url("dripping")), target, clock=clock)
    assert left(target) == ["file.bin.part"]  # what came so slowly is kept all the same
    run(download(server.url("good")), target)
    assert target.read_bytes() == CONTENT


def test_a_mirror_that_takes_too_long_is_given_up(server, target):
    clock = itertools.count(0, 10).__next__
    with pytest.raises(FetchError, match="took longer than 30 seconds"):
        run(download(server.url("good")), target, clock=clock, limit=30, floor=0)
    run(download(server.url("good")), target, clock=itertools.count(0, 10).__next__, floor=100)


def test_headers_that_never_end_are_not_waited_for(server, target):
    with pytest.raises(FetchError, match=r"cannot be reached \((no answer in time|got more than 100 headers)\)"):
        run(download(server.url("long_in_its_headers")), target, answer=0.2)


@pytest.mark.parametrize("behaviour", ["always_cut", "dead_after_a_while"])
def test_without_a_checksum_no_piece_is_kept(server, target, behaviour):
    with pytest.raises(FetchError):
        run(download(server.url(behaviour), checksum=None), target)
    assert left(target) == []


def dead_address():
    """An address at which nobody answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/file.bin"


@pytest.mark.parametrize("checksum", [MD5, None])
@pytest.mark.parametrize("first", ["always_cut", "dead_after_a_while", "empty", "missing", "broken"])
def test_the_next_mirror_is_tried(server, target, first, checksum):
    run(download(server.url(first), server.url("good"), checksum=checksum), target)
    assert target.read_bytes() == CONTENT
    assert left(target) == ["file.bin"]


@pytest.mark.parametrize("first", ["wrong", "too_short"])
def test_a_mirror_with_other_content_is_passed_over(server, target, first):
    run(download(server.url(first), server.url("good")), target)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("first", ["nobody there", "http://nowhere.invalid/file.bin", "no address", "ftp:///x"])
def test_a_dead_mirror_is_passed_over(server, target, first):
    run(download(dead_address() if first == "nobody there" else first, server.url("good")), target)
    assert target.read_bytes() == CONTENT


def test_every_mirror_is_named_when_all_fail(server, target):
    with pytest.raises(FetchError, match=r"missing/file\.bin answered 404 .*; http\S+ cannot be reached \(.*\)\."):
        run(download(server.url("missing"), dead_address()), target)


def test_a_piece_of_an_earlier_try_is_gone_on_from(server, target):
    target.parent.mkdir()
    (target.parent / "file.bin.part").write_bytes(CONTENT[:300_000])
    seen = run(download(server.url("good")), target)
    assert target.read_bytes() == CONTENT
    assert server.asked == [("good", "bytes=300000-")]
    assert seen[0][0] > 300_000
    assert seen[-1] == (len(CONTENT), len(CONTENT))


@pytest.mark.parametrize("piece", [b"of another file", CONTENT, CONTENT + b"too much", b"x" * len(CONTENT)])
@pytest.mark.parametrize("behaviour", ["good", "unable_to_resume", "wrong_when_resumed"])
def test_a_piece_that_does_not_belong_does_no_harm(server, target, piece, behaviour):
    target.parent.mkdir()
    (target.parent / "file.bin.part").write_bytes(piece)
    run(download(server.url(behaviour)), target)
    assert target.read_bytes() == CONTENT
    assert left(target) == ["file.bin"]


def test_an_old_file_stays_until_the_new_one_is_whole(server, target):
    target.parent.mkdir()
    target.write_bytes(b"old")
    with pytest.raises(FetchError):
        run(download(server.url("wrong")), target)
    assert target.read_bytes() == b"old"
    run(download(server.url("good")), target)
    assert target.read_bytes() == CONTENT


def test_a_local_folder_can_be_a_mirror(tmp_path, target):
    (tmp_path / "copy.bin").write_bytes(CONTENT)
    run(download((tmp_path / "copy.bin").as_uri()), target)
    assert target.read_bytes() == CONTENT


def _hold(path, ready, done):
    import fcntl

    with open(path, "ab") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        ready.set()
        done.wait(300)


def test_two_processes_do_not_write_to_one_file(server, target):
    target.parent.mkdir()
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(str(target) + ".part", ready, done))
    other.start()
    try:
        assert ready.wait(300)
        with pytest.raises(FetchError, match=r"Another process is fetching .*file\.bin\.part"):
            run(download(server.url("good")), target)
    finally:
        done.set()
        other.join()
    run(download(server.url("good")), target)
    assert target.read_bytes() == CONTENT


def test_a_full_disk_is_not_taken_for_a_dead_mirror_nor_kept_full(server, target, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(
        FetchError,
        match=r"No space left on device at .*file\.bin\.part.*; mend that, with room for [\d,]+ bytes, .*\.$",
    ):
        run(download(server.url("good"), server.url("good")), target)
    assert len(server.asked) == 1
    assert list(target.parent.iterdir()) == []
