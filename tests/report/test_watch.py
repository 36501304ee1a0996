"""The live page: served to this machine alone, to several viewers, and following the runs."""

import json
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from merlin_cl.errors import UsageError
from merlin_cl.report.watch import Watch
from merlin_cl.report.watch_server import HOST, WatchServer
from merlin_cl.runs.folder import RunFolder
from patience import PATIENCE

from .browsing import opened
from .made import make_run


@pytest.fixture
def server(tmp_path):
    """A watch over a folder that is not there yet."""
    with WatchServer(Watch([tmp_path / "runs"], rest=0), 0) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def get(server, path, **headers):
    with urllib.request.urlopen(urllib.request.Request(server.url + path, headers=headers), timeout=PATIENCE) as answer:
        return answer.read().decode()


def live(server):
    return json.loads(get(server, "live"))


def test_it_listens_on_loopback_alone(server):
    assert server.server_address[0] == HOST == "127.0.0.1"


def test_it_answers_nobody_who_calls_it_by_another_name(server):
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(server, "live", Host="example.org")
    assert refused.value.code == 403
    refused.value.close()
    assert live(server)


def test_there_is_nothing_else_to_get(server):
    for path in ("../etc/passwd", "runs", "live/x"):
        with pytest.raises(urllib.error.HTTPError) as missing:
            get(server, path)
        assert missing.value.code == 404
        missing.value.close()


def test_a_port_that_is_taken_is_refused_with_advice(server):
    with pytest.raises(UsageError, match="--port"):
        WatchServer(server.watch, server.server_port)


def test_runs_appear_when_they_begin_and_results_when_tasks_are_done(server, tmp_path):
    empty = live(server)
    assert empty["progress"] == {"runs": [], "grids": []}
    folder = make_run(tmp_path / "runs", "single", done=1)
    with RunFolder(folder).locked():
        state = live(server)
    assert state["version"] != empty["version"]
    (run,) = state["progress"]["runs"]
    assert (run["state"], run["done"], run["tasks"]) == ("running", 1, 3)
    assert "1 of 3" in json.loads(get(server, "fragment"))["main"]
    assert "single" in get(server, "")


def test_nothing_new_is_the_same_version(server, tmp_path):
    folder = make_run(tmp_path / "runs", done=1)
    version = live(server)["version"]
    RunFolder(folder).log("task", task=1)
    assert live(server)["version"] == version


def test_a_damaged_run_does_not_end_the_watch(server, tmp_path):
    make_run(tmp_path / "runs", "single")
    broken = make_run(tmp_path / "runs", "er")
    (broken / "result.json").write_text("{")
    assert len(live(server)["progress"]["runs"]) == 1
    assert broken.name in get(server, "")


def test_many_viewers_see_the_same(server, tmp_path):
    make_run(tmp_path / "runs", "single")
    with ThreadPoolExecutor(8) as viewers:
        pages = list(viewers.map(lambda _: get(server, ""), range(8)))
    assert len(set(pages)) == 1


def test_the_page_is_made_no_more_often_than_the_runs_can_bear(tmp_path):
    now = [0.0]

    def clock():
        now[0] += 1.0  # so that making the content takes a second, and asking for the time another
        return now[0]

    watch = Watch([tmp_path], clock)
    make_run(tmp_path, "single", seed=0)
    first = watch.live()["version"]
    make_run(tmp_path, "single", seed=1)
    assert watch.live()["version"] == first
    now[0] += 1000
    assert watch.live()["version"] != first


def test_it_never_writes_to_the_runs(server, tmp_path):
    folder = make_run(tmp_path / "runs", done=1)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    get(server, "")
    live(server)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_an_open_page_follows_the_runs_and_leaves_the_reader_in_place(browser, server, tmp_path):
    root = tmp_path / "runs"
    make_run(root, "merlin", 0)
    make_run(root, "single", 0)
    entry = {
        "stream": "split-mnist",
        "method": "er",
        "seed": 0,
        "run": None,
        "reason": None,
        "tries": 0,
        "status": "queued",
    }
    (root / "grid.json").write_text(json.dumps({"seconds_left": 75, "runs": [entry, {**entry, "status": "done"}]}))
    with opened(browser, server.url) as page:
        page.get_by_text("Grid runs: 1 of 2 runs ended, 1 queued, about 1:15 left").wait_for()
        page.get_by_text("2 finished runs").wait_for()
        assert page.locator("h1").inner_text().startswith("Split MNIST: merlin ")
        assert page.title() == "(1/2 runs) Split MNIST · merlin-cl"
        section = page.locator("#stream-0")
        section.locator("[data-chosen] summary").click()
        section.get_by_role("button", name="single", exact=True).click()
        lines = section.locator("[data-plot=curves] path[data-series]")
        before = lines.count()
        make_run(root, "er", 0)
        page.get_by_text("3 finished runs").wait_for()
        section.get_by_role("button", name="er", exact=True).wait_for()
        assert lines.count() == before + 1
        assert section.get_by_role("button", name="single", exact=True).get_attribute("aria-pressed") == "false"
        assert page.complaints == []
        assert all(request.startswith((server.url, "data:")) for request in page.requests)


def test_a_run_that_is_not_finished_is_no_flat_line_and_the_title_counts_tasks(browser, server, tmp_path):
    root = tmp_path / "runs"
    make_run(root, "merlin", 0, stream_values={"tasks": 5})
    make_run(root, "er", 0, stream_values={"tasks": 5}, done=1, level=100.0)
    make_run(root, "single", 0, stream_values={"tasks": 5}, done=3)
    with opened(browser, server.url) as page:
        page.get_by_text("1 finished run").wait_for()
        assert page.title() == "(9/15 tasks) Split MNIST · merlin-cl"
        curves = page.locator("#stream-0 [data-plot=curves]")
        width = "lines => lines.map(line => line.getBBox().width)"
        short, none = sorted(curves.locator("path[data-unfinished]").evaluate_all(width), reverse=True)
        whole = max(curves.locator("path[data-series]:not([data-unfinished])").evaluate_all(width))
        assert none == 0  # one task is a mark
        assert 0.4 * whole < short < 0.6 * whole  # three of five tasks are half of the way
        names = page.locator("#stream-0 [data-plot=ranking] .row-name").all_text_contents()
        assert {name.split(" ")[0] for name in names} == {"merlin"}
        page.get_by_role("heading", name="Not finished, class-incremental").wait_for()


def test_an_open_page_says_when_the_watch_has_ended(browser, tmp_path):
    with WatchServer(Watch([tmp_path]), 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        with opened(browser, server.url) as page:
            page.get_by_text("There are no runs here yet").wait_for()
            server.shutdown()
            thread.join()
            server.server_close()
            page.get_by_text("is merlin watch still running?").wait_for()
