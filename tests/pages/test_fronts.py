"""The page of fronts names those that nobody beats for less, and draws them."""

from tools.pages.charts import beside
from tools.pages.fronts import EXEMPLARS, Point, compared, exemplar_figure, exemplar_points, figure, front, pages
from tools.pages.records import read_records

from merlin_cl.report.summary import first_answers


def test_nobody_off_the_front_is_unbeaten():
    points = [Point("a", 90, 5), Point("b", 95, 9), Point("c", 89, 7), Point("d", 95, 12), Point("e", 97, 40)]
    on = front(points)
    assert [point.method for point in on] == ["a", "b", "e"]
    for point in set(points) - set(on):
        assert any(other.accuracy >= point.accuracy and other.cost <= point.cost for other in on)


def test_every_method_of_a_stream_has_one_point_and_no_ceiling_has():
    rows = compared([record for record in read_records() if record.result["stream"] == "split-mnist"])
    methods = [entry.row.method for entry in rows]
    assert len(methods) == len(set(methods))
    assert "merlin" in methods
    assert "joint" not in methods


def test_a_method_is_compared_by_its_first_answer_and_not_by_its_best():
    rows = [entry.row for entry in compared(list(read_records()))]
    assert rows
    assert all(row in first_answers([row]) for row in rows)
    merlin = [row for row in rows if row.method == "merlin"]
    assert {row.inference for row in merlin} == {"marginal"}


def test_the_page_names_merlin_where_it_is_on_a_front():
    written = pages()
    assert "`merlin` (96.2" in written["docs/fronts.md"]
    assert "merlin" in written["docs/images/fronts-split-mnist.svg"]


def test_a_figure_names_those_on_the_front():
    drawn = figure("split-mnist", {"bytes kept": [Point("a", 90, 5e4), Point("b", 80, 6e4)]})
    assert ">a</text>" in drawn
    assert ">b</text>" not in drawn


def test_names_lie_beside_their_points_and_never_over_each_other():
    points = {name: (50.0 + at, 50.0) for at, name in enumerate(("merlin", "lookup", "gdumb-ensemble"))}
    places = beside(points, 46.0, 300.0)
    boxes = [(x, y - 12, x + 8 * len(name), y + 3) for name, (x, y) in places.items()]
    assert len(places) == 3
    assert all(box[0] >= 46 and box[2] <= 300 for box in boxes)
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]


def test_accuracy_by_exemplars_is_the_mean_over_seeds():
    records = [record for record in read_records(EXEMPLARS) if record.result["method"] in ("er", "gdumb")]
    points = exemplar_points(records)
    assert list(points) == ["er", "gdumb"] or list(points) == ["gdumb", "er"]
    numbers = [50, 100, 200, 500, 1000, 2000]
    assert all(list(of) == numbers for of in points.values())
    twice = exemplar_points([*records, *records])
    assert twice == points


def test_a_figure_of_exemplars_names_merlin_and_the_best_of_every_number():
    points = {"merlin": {50: 80.0, 100: 85.0}, "scr": {50: 83.0, 100: 84.0}, "er": {50: 70.0, 100: 75.0}}
    drawn = exemplar_figure("split-mnist", points)
    assert ">merlin</text>" in drawn
    assert ">scr</text>" in drawn
    assert ">er</text>" not in drawn
    assert drawn.count('class="course"') == len(points)
