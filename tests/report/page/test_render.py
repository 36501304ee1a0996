"""The page as text: whole, safe, and in need of nothing else."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.report.page.build import content
from merlin_cl.report.page.estimates import ESTIMATE
from merlin_cl.report.page.render import embedded, figures, fragment, packed, page
from merlin_cl.report.page.sources import find, read

from ..made import make_run

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


class Elements(HTMLParser):
    """All elements of a page and their attributes."""

    def __init__(self, text):
        super().__init__()
        self.list = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.list.append((tag, dict(attrs)))


@pytest.fixture
def text(runs):
    make_run(runs, stream="permuted-mnist")
    return page(content(read(find([runs])).runs))


def test_what_a_method_does_not_state_is_not_zero_bytes(tmp_path):
    make_run(tmp_path, "er", stated=False)
    text = page(content(read(find([tmp_path])).runs))
    assert text.count("not stated</") == 2  # in its row for each view
    assert "0 B<" not in text


def test_nothing_on_the_page_points_outside(text):
    for tag, attributes in Elements(text).list:
        for name in ("src", "href", "action", "srcset"):
            address = attributes.get(name, "#")
            assert address.startswith(("#", "data:")), (tag, address)
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/)", text)


def test_the_policy_admits_the_script_and_nothing_else(text):
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL).group(1)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy.replace("&#39;", "'")
    assert "default-src 'none'" in policy.replace("&#39;", "'")


def test_ids_are_unique_and_every_reference_has_its_element(text):
    elements = Elements(text).list
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for _, attributes in elements:
        for name in ("aria-labelledby", "aria-controls"):
            assert set(attributes.get(name, "").split()) <= set(ids)


def test_pictures_and_controls_have_names(text):
    elements = Elements(text).list
    assert all(attributes.get("alt") for tag, attributes in elements if tag == "img")
    assert all(
        attributes.get("aria-label") or attributes.get("aria-labelledby")
        for _, attributes in elements
        if attributes.get("role") == "region"
    )
    assert all(attributes.get("scope") for tag, attributes in elements if tag == "th")


@settings(max_examples=40)
@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), st.lists))
def test_numbers_inside_the_page_are_those_outside_and_cannot_end_the_script(value):
    inside = embedded(value)
    assert "<" not in inside
    assert json.loads(inside) == value


def test_names_from_files_stay_text(runs):
    for folder in runs.iterdir():
        for name in ("config.json", "result.json"):
            record = json.loads((folder / name).read_text())
            record["source"] = HOSTILE
            (folder / name).write_text(json.dumps(record))
    made = content(read(find([runs])).runs, [HOSTILE], title=HOSTILE)
    text = page(made)
    assert HOSTILE not in text
    assert not any("onerror" in attributes for _, attributes in Elements(text).list)
    assert HOSTILE not in fragment(made, live="1")["main"]


def test_the_paper_and_the_control_stand_beside_ours(tmp_path):
    for method in ("merlin", "gdumb-ensemble"):
        for seed in range(2):
            make_run(tmp_path, method, seed, stream_values={"tasks": 5})
    text = page(content(read(find([tmp_path])).runs))
    assert "90.7" in text
    assert "above gdumb-ensemble" in text
    assert "class-incremental" in text
    assert "Yes." in text  # the diagnosis: sampled models are half a point below the base models


def test_what_probabilities_were_worth_is_a_column_for_those_that_give_some(tmp_path):
    for method in ("er", "icarl"):
        for seed in range(2):
            make_run(tmp_path, method, seed)
    made = content(read(find([tmp_path])).runs)
    rows = {(one["method"], one["view"]): one for each in made["streams"][0]["experiments"] for one in each["series"]}
    assert rows["er", "task-masked"]["nll"]["mean"] == 0.8  # 0.3 after the last task, and the seed, 0 or 1, on top
    assert rows["er", "class-incremental"]["ece"]["mean"] == 3.5
    assert rows["icarl", "task-masked"]["nll"] is None
    text = page(made)
    assert "0.800" in text
    assert 'class="sort">NLL' in text


def test_results_of_before_probabilities_were_measured_make_a_page(runs):
    for file in runs.glob("*/result.json"):
        record = json.loads(file.read_text())
        for score in record["scores"]:
            del score["uncertainty"]
        file.write_text(json.dumps(record))
    made = content(read(find([runs])).runs)
    assert all(one["nll"] is None for each in made["streams"][0]["experiments"] for one in each["series"])
    assert "NLL" in page(made)


def test_unfinished_runs_are_left_out_and_said_so(runs):
    late = make_run(runs, seed=9, done=1)
    made = content(read(find([runs])).runs)
    assert made["runs"] == 7
    assert len(made["problems"]) == 1
    assert f"merlin resume {late}" in made["problems"][0]
    assert "merlin resume" in page(made)


def test_a_page_of_nothing_says_so():
    assert "No task is done yet." in page(content([]), live="1")


def test_a_methods_further_experiments_tell_what_sets_them_apart(tmp_path):
    for rate in (0.01, 0.02):
        make_run(tmp_path, "er", learning_rate=rate)
    (stream,) = content(read(find([tmp_path])).runs)["streams"]
    first, second = stream["experiments"]
    assert (first["like"], second["like"]) == (None, first["label"])
    assert [setting["name"] for setting in second["settings"]] == ["learning_rate"]
    assert first["environments"]
    assert not second["environments"]


def test_estimates_are_packed_without_losing_anything(runs):
    plain = figures(content(read(find([runs])).runs))
    (one, *_) = plain["streams"][0]["experiments"][0]["series"]
    (small, *_) = packed(plain)["streams"][0]["experiments"][0]["series"]
    assert small["average"]["~"] == [one["average"][name] for name in ESTIMATE]
    assert packed({"mean": 1.0, "low": None, "high": None, "std": None, "each": None}) == {"~": [1.0]}
