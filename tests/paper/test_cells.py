"""Our numbers beside the paper's: the right score of the right runs, and nothing set beside what it cannot be compared with."""

import csv
import io

import pytest
from rich.console import Console

from merlin_cl.metrics import METRICS, learning_curve
from merlin_cl.paper.cells import cells_of, comparisons
from merlin_cl.paper.experiment import experiment
from merlin_cl.paper.trials import TrialOptions, trials
from merlin_cl.report.reproduction import HEADINGS, Reproduction, as_csv, as_latex, as_markdown, terminal_tables
from merlin_cl.report.reproduction_files import write_files
from merlin_cl.report.text import NONE


def result(accuracies):
    """A result in which the matrix of a view and an inference mode has the same accuracy everywhere."""

    def score(view, inference, value, tasks):
        matrix = [[value] * (k + 1) for k in range(tasks)]
        named = {name: metric(matrix) for name, metric in METRICS.items()}
        return {"view": view, "inference": inference, "learning_curve": learning_curve(matrix), **named}

    return {"scores": [score(*question, value, tasks) for (question, tasks), value in accuracies.items()]}


def reproduced(name, values, choice):
    """A table with results made up: `values` gives the accuracy for (method, view, inference) and a seed."""
    done = trials(experiment(name), choice)
    for trial in done:
        info = trial.stream.outline()
        for seed in range(choice.seeds):
            accuracies = {
                ((view, inference), info.tasks): values(trial.line, view, inference) + seed
                for view in info.views
                for inference in (None, "aggregate", "marginal", "aware")
            }
            trial.results[seed] = result(accuracies)
    return Reproduction(experiment(name), [cell for trial in done for cell in cells_of(trial)], choice.label), done


def by(cells, **wanted):
    matches = [
        cell
        for cell in cells
        if all(getattr(cell if hasattr(cell, key) else cell.line, key) == value for key, value in wanted.items())
    ]
    assert len(matches) == 1
    return matches[0]


def test_ours_the_paper_s_and_the_difference():
    reproduction, _ = reproduced(
        "main",
        lambda line, view, inference: {"marginal": 93.0, "aggregate": 92.0}.get(inference, 40.0),
        TrialOptions(seeds=3),
    )
    cell = by(reproduction.cells, stream="split-mnist", method="merlin", inference="marginal", measure="A")
    assert (cell.view, cell.values) == ("class-incremental", {0: 93.0, 1: 94.0, 2: 95.0})
    assert (cell.mean, cell.std, cell.paper.mean) == (94.0, 1.0, 90.7)
    assert cell.difference == pytest.approx(3.3)
    assert by(reproduction.cells, stream="split-cifar10", method="gem", measure="A").view == "task-masked"
    assert by(reproduction.cells, stream="permuted-mnist", method="gss", measure="F").view == "domain-incremental"
    assert not [cell for cell in reproduction.cells if cell.stream == "permuted-mnist" and cell.line.method == "icarl"]


def test_who_knows_the_task_is_scored_among_its_classes():
    reproduction, _ = reproduced(
        "variants", lambda line, view, inference: 90.0 if view == "task-masked" else 50.0, TrialOptions()
    )
    aware = by(reproduction.cells, stream="split-mnist", title="task-aware", measure="A")
    assert (aware.view, aware.mean, aware.paper.mean) == ("task-masked", 92.0, 97.4)
    agnostic = by(reproduction.cells, stream="split-mnist", title="task-agnostic", inference="aggregate", measure="A")
    assert (agnostic.view, agnostic.mean, agnostic.paper.mean) == ("class-incremental", 52.0, 90.7)


def test_fewer_tasks_stand_beside_the_paper_s_first_tasks_or_beside_nothing():
    choice = TrialOptions(seeds=1, tasks=2, quick=True)
    main, _ = reproduced("main", lambda line, view, inference: 70.0, choice)
    cell = by(main.cells, stream="split-mnist", method="single", measure="A")
    assert (cell.paper.mean, cell.paper.where) == (73.9, "Appendix G, Table 9, first 2 tasks")
    assert by(main.cells, stream="split-mnist", method="single", measure="F").paper is None
    chunk, _ = reproduced("chunk", lambda line, view, inference: 70.0, choice)
    assert {cell.paper for cell in chunk.cells} == {None}
    curve, _ = reproduced("taskwise", lambda line, view, inference: 70.0, choice)
    assert {cell.measure for cell in curve.cells} == {"task 1", "task 2"}
    assert by(curve.cells, stream="split-mnist", method="gem", measure="task 2").paper.mean == pytest.approx(
        92.1, abs=0.5
    )


def test_sizes_are_counted_without_a_run_and_are_the_paper_s():
    cells = [cell for trial in trials(experiment("params"), TrialOptions()) for cell in cells_of(trial)]
    paper = [cell for cell in cells if cell.line.method == "merlin-paper"]
    assert len(paper) == 10
    assert {cell.difference for cell in paper} == {0.0}


def test_the_reference_is_compared_with_each_other_line_over_the_same_seeds():
    reproduction, _ = reproduced(
        "main",
        lambda line, view, inference: 50.0 if line.reference else 45.0,
        TrialOptions(seeds=5, streams=("split-mnist",)),
    )
    outcomes = comparisons(reproduction.cells)
    assert len(outcomes) == 5 + 2 + 2  # five rivals, two controls, the code's reading and our MERLIN
    assert {(outcome.difference, outcome.p_value, outcome.seeds) for _, _, outcome in outcomes} == {(5.0, 0.0, 5)}
    assert "+5.00" in as_markdown(reproduction)


QUICK = TrialOptions(seeds=2, tasks=2, quick=True, streams=("split-mnist",))


def test_every_form_has_the_paper_s_value_ours_and_the_difference(tmp_path):
    reproduction, done = reproduced(
        "main", lambda line, view, inference: 75.0, TrialOptions(seeds=2, streams=("split-mnist",))
    )
    rows = list(csv.DictReader(io.StringIO(as_csv(reproduction))))
    single = next(row for row in rows if row["method"] == "single" and row["measure"] == "A")
    assert (float(single["paper"]), float(single["ours"]), int(single["seeds"])) == (44.8, 75.5, 2)
    assert float(single["difference"]) == pytest.approx(30.7)
    assert float(single["std"]) == pytest.approx(0.5**0.5)
    out = io.StringIO()
    for table in terminal_tables(reproduction):
        Console(width=120, file=out).print(table)
    for text in (as_markdown(reproduction), as_latex(reproduction).replace(r"$\pm$", "±"), out.getvalue()):
        assert all(number in text for number in ("44.80 ± 0.30", "75.50 ± 0.71", "+30.70"))
    written = write_files(reproduction, done, tmp_path / "main")
    assert sorted(path.suffix for path in written) == [".csv", ".md", ".pdf", ".svg", ".tex"]
    assert all(path.stat().st_size > 500 for path in written)
    assert "</svg>" in (tmp_path / "main.svg").read_text()
    assert (tmp_path / "main.pdf").read_bytes().startswith(b"%PDF")


def test_every_cell_has_a_mark_and_a_reason():
    reproduction, _ = reproduced(
        "main",
        lambda line, view, inference: 6.0 if line.method == "gem" else 90.0,
        TrialOptions(seeds=5, streams=("split-mnist",)),
    )
    paper = by(reproduction.cells, title="merlin-paper", measure="A")
    assert (paper.mark, paper.reason) == ("reproduced", f"within {paper.half_width:.2f}")
    rival = by(reproduction.cells, method="gem", measure="A")
    assert (rival.mark, rival.reason[:9]) == ("not reached", "by 78.70,")
    forgetting = by(reproduction.cells, title="merlin-paper", measure="F")
    assert (forgetting.mean, forgetting.mark) == (0.0, "exceeded")  # less of it is better
    control = by(reproduction.cells, method="gdumb-ensemble", measure="A")
    assert (control.mark, control.reason) == (None, "the paper has no number for this")
    rows = list(csv.DictReader(io.StringIO(as_csv(reproduction))))
    assert {row["mark"] for row in rows} == {"reproduced", "exceeded", "not reached", ""}


def test_our_merlin_is_a_column_beside_the_recipe_set_alike():
    reproduction, _ = reproduced(
        "ensemble",
        lambda line, view, inference: line.settings["models"] / 2 + (20 if line.method == "merlin" else 10),
        TrialOptions(seeds=1, streams=("split-mnist",)),
    )
    place = {heading: number for number, heading in enumerate(HEADINGS)}
    shown = {row[place["method"]]: (row[place["ours"]], row[place["our MERLIN"]]) for row in reproduction.rows}
    assert shown["merlin-paper, E = 50, aggregate"] == ("35.00", "45.00")
    assert not [method for method in shown if method.startswith("merlin (ours)")]
    variants, _ = reproduced(
        "variants",
        lambda line, view, inference: 70.0 if line.method == "merlin" and inference == "aware" else 60.0,
        TrialOptions(seeds=1, streams=("permuted-mnist",)),
    )
    shown = {row[place["method"]]: row[place["our MERLIN"]] for row in variants.rows if row[place["measure"]] == "A"}
    assert shown == {
        "without training the VAE, aggregate": NONE,
        "task-agnostic, aggregate": "60.00",
        "task-aware, aware": "70.00",
    }


def test_a_quick_look_says_so_everywhere(tmp_path):
    reproduction, done = reproduced("main", lambda line, view, inference: 75.0, QUICK)
    write_files(reproduction, done, tmp_path / "main")
    for suffix in ("csv", "md", "tex", "svg"):
        assert "QUICK LOOK" in (tmp_path / f"main.{suffix}").read_text(), suffix
    assert "QUICK LOOK" in reproduction.remarks[0]


def test_what_was_not_run_is_shown_with_its_reason():
    done = trials(experiment("main"), TrialOptions(streams=("split-cifar10",)))
    for trial in done:
        trial.reason = "CIFAR-10 is not here; get it."
    reproduction = Reproduction(experiment("main"), [cell for trial in done for cell in cells_of(trial)])
    assert {row[4] for row in reproduction.rows} == {"not run"}
    assert "Not run, split-cifar10: CIFAR-10 is not here; get it." in reproduction.remarks
    assert "82.90 ± 1.20" in as_markdown(reproduction)  # what the paper has is there all the same


def test_figures_are_the_same_file_for_the_same_numbers(tmp_path):
    for name in ("main", "taskwise"):
        reproduction, done = reproduced(name, lambda line, view, inference: 75.0, QUICK)
        files = []
        for folder in ("first", "second"):
            write_files(reproduction, done, tmp_path / folder / name)
            files.append((tmp_path / folder / f"{name}.svg").read_bytes())
        assert files[0] == files[1]
