"""docs/results/STREAM.md: every row of every result file of a stream, ranked; what was reached of the paper; how it was run."""

from collections.abc import Iterator
from dataclasses import dataclass

from tools.pages.charts import dot_plot
from tools.pages.markdown import table, template
from tools.pages.records import (
    A,
    Asked,
    Record,
    ResultRow,
    asked,
    entries,
    figure,
    larger_network,
    named,
    one_a_method,
    paper_figure,
    paper_of,
    part_of_stream,
    read_reasons,
    read_records,
    streams_of,
)

from merlin_cl.paper.experiment import view_for
from merlin_cl.paper.verdict import reason, verdict
from merlin_cl.report.means import unequal_means
from merlin_cl.report.page.command import command_of
from merlin_cl.report.ranking import Place, ranking, sentence
from merlin_cl.report.summary import Contest, Row, contests, experiment_of
from merlin_cl.report.text import NONE, ends, probability, signed, stored_size, stream_title

FIGURES = ("A:", "95 % interval:", "final:", "F:", "NLL:", "ECE:")
HEADINGS = ("rank:", "method", "inference", *FIGURES, "seeds:", "kept:", "held:", "CPU s:", "run:")
PAPERS = ("method", "view", "inference", "paper:", "mark", "why")
COMPARED = ("view", "method", "run:", "the best", "difference:", "95 % interval:", "p:", "seeds:")


def pages() -> dict[str, str]:
    """Return the page of every stream that the paper has a figure for or that has a result file, and its figure."""
    return written(read_records(), read_reasons())


def written(records: list[Record], reasons: dict[str, str]) -> dict[str, str]:
    """Return the pages that some records make."""
    texts = {}
    for stream in streams_of(records):
        section = Section.of(stream, [one for one in records if one.result["stream"] == stream], reasons)
        texts[f"docs/results/{stream}.md"] = section.text
        texts |= {f"docs/images/{name}.svg": figure for name, (_, figure) in section.figures.items()}
    return texts


@dataclass(frozen=True)
class Section:
    """What is known of a stream."""

    stream: str
    entries: list[ResultRow]
    wanted: list[Asked]
    reasons: dict[str, str]

    @classmethod
    def of(cls, stream: str, records: list[Record], reasons: dict[str, str]) -> "Section":
        """Gather what the result files of a stream say."""
        return cls(stream, entries(records), [one for one in asked() if one.stream == stream], reasons)

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [entry.row for entry in self.entries]

    @property
    def runs(self) -> dict[str, int]:
        """The number of every experiment on the page."""
        keys = dict.fromkeys(experiment_of(entry.records[0].result) for entry in self.entries)
        return {key: number for number, key in enumerate(keys, start=1)}

    def number(self, row: Row) -> int:
        """Return the number of the experiment that a row is of."""
        return self.runs[experiment_of(self.entry(row).records[0].result)]

    def entry(self, row: Row) -> ResultRow:
        """Return the entry of a row."""
        return next(entry for entry in self.entries if entry.row is row)

    @property
    def questions(self) -> list[list[Place]]:
        """The ranked rows of every question: of the whole stream first, of its hardest view, of the data MERLIN had."""

        def order(places: list[Place]) -> tuple[bool, bool, bool, int]:
            row, methods = places[0].row, {place.row.method for place in places}
            return bool(row.stream_changed), row.view == "task-masked", "merlin" not in methods, -len(methods)

        return sorted(ranking(self.rows), key=order)

    @property
    def figures(self) -> dict[str, tuple[str, str]]:
        """Figures of the first question: what they show, and their SVG, by name; none where no row answers it."""
        if not self.questions:
            return {}
        places, called = one_a_method(self.questions[0]), stream_title(self.stream)
        part = ", part of it" if places[0].row.stream_changed else ""
        title, name = f"{called}, {places[0].row.view}{part}", f"results-{self.stream}"
        drawn = {
            name: (f"Accuracy of every method on {called}, the best first", dot_plot(places, title, name)),
        }
        return {name: figure for name, figure in drawn.items() if figure[1]}

    @property
    def text(self) -> str:
        """The page."""
        chapters = [template("stream.md", title=stream_title(self.stream), sentence=self._sentence).rstrip()]
        chapters += [f"![{alt}](../images/{name}.svg)" for name, (alt, _) in self.figures.items()]
        chapters += [self._question(places) for places in self.questions]
        chapters += [*self._means, *self._paper, *self._contests, *self._commands]
        return "\n\n".join(chapters) + "\n"

    @property
    def _sentence(self) -> str:
        told = [sentence(one_a_method(places), lambda row: row.method) for places in self.questions[:1]]
        return f"**{told[0]}.**" if told and told[0] else "No method has been run on the whole stream yet."

    def _question(self, places: list[Place]) -> str:
        rows = [self._line(place) for place in places]
        source = f"Data: {places[0].row.source}."
        return "\n\n".join([f"## {_question(places[0].row).capitalize()}", source, table(HEADINGS, rows)])

    def _line(self, place: Place) -> tuple[str, ...]:
        row = place.row
        return (
            str(place.rank or place.apart),
            named(row),
            row.inference or NONE,
            figure(row, A),
            ends(row.interval(A)),
            figure(row, "final_accuracy"),
            figure(row, "forgetting"),
            _short(row, "nll", 3),
            _short(row, "ece", 1),
            str(len(row.seeds)),
            stored_size(row.stored_bytes),
            NONE if row.held_bytes is None else stored_size(row.held_bytes),
            f"{self.entry(row).cpu_seconds:.1f}",
            str(self.number(row)),
        )

    @property
    def _means(self) -> list[str]:
        return [told[0].upper() + told[1:] for told in unequal_means(self.rows)]

    @property
    def _paper(self) -> list[str]:
        lines = [*self._beside(), *(self._missing(one) for one in self.wanted if not self._answered(one))]
        return ["## Beside the paper", table(PAPERS, lines)] if lines else []

    def _beside(self) -> Iterator[tuple[str, ...]]:
        for row in sorted(self.rows, key=lambda row: (row.view, row.method != "merlin", row.method)):
            paper, middle = paper_of(row), row.mean[A]
            if paper is None or middle is None:
                continue
            width = row.half_width[A]
            key = _key(row.stream, row.method, row.inference, row.preset)
            why = [reason(middle, width, paper), self.reasons.get(key), larger_network(row)]
            why += [paper.where if "first" in paper.where else part_of_stream(row)]
            cells = (named(row), row.view, row.inference or NONE, paper_figure(paper), verdict(middle, width, paper))
            yield (*cells, "; ".join(part for part in why if part))

    def _missing(self, one: Asked) -> tuple[str, ...]:
        why = (
            self.reasons.get(_key(one.stream, one.method, one.inference))
            or self.reasons.get(one.stream)
            or "no result file of the whole stream yet"
        )
        view = view_for(one.stream, one.inference)
        return (f"`{one.method}`", view, one.inference or NONE, paper_figure(one.paper), "not run", why)

    def _answered(self, one: Asked) -> bool:
        return any(
            (row.method, row.inference) == (one.method, one.inference) and paper_of(row) is not None
            for row in self.rows
        )

    @property
    def _contests(self) -> list[str]:
        held = contests(self.rows)
        if not held:
            return []
        said = "Every row beside the best of its view that is told as much: paired t-test, p by Holm over the table."
        return ["## Seed by seed", said, table(COMPARED, [self._outcome(contest) for contest in held])]

    def _outcome(self, contest: Contest) -> tuple[str, ...]:
        outcome, row, best = contest.outcome, contest.row, contest.best
        called = [named(one) + (f", {one.inference}" if one.inference else "") for one in (row, best)]
        difference, interval = signed(outcome.difference), ends(outcome.interval, signed)
        p_value = probability(outcome.p_value)
        return (
            _question(row),
            called[0],
            str(self.number(row)),
            called[1],
            difference,
            interval,
            p_value,
            str(outcome.seeds),
        )

    @property
    def _commands(self) -> list[str]:
        if not self.entries:
            return []
        groups = {experiment_of(entry.records[0].result): entry for entry in reversed(self.entries)}
        lines = [f"{number}. {_run(groups[key])}" for key, number in self.runs.items()]
        minutes = sum(entry.cpu_seconds * len(entry.records) for entry in groups.values()) / 60
        runs = sum(len(entry.records) for entry in groups.values())
        cost = f"{runs} runs, {minutes:.0f} CPU-minutes in all, starting processes and loading data not counted."
        return ["## How it was run", cost, "\n".join(lines)]


def _question(row: Row) -> str:
    """Return what rows were asked: the view, and which part of the stream, if not the whole."""
    return ", ".join(filter(None, [row.view, part_of_stream(row)]))


def _short(row: Row, name: str, digits: int) -> str:
    """Return a mean over seeds without its deviation; a dash where the method has no probabilities."""
    value = row.mean.get(name)
    return NONE if value is None else f"{value:.{digits}f}"


def _run(entry: ResultRow) -> str:
    """Say how, when and with which code an experiment was computed."""
    dates = sorted({record.date for record in entry.records if record.date})
    revisions = sorted({record.revision[:10] if record.revision else "unknown" for record in entry.records})
    when = f"on {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}" if dates else "on a day not recorded"
    seeds = ", ".join(map(str, entry.row.seeds))
    return f"`{command_of(entry.row)}`; seeds {seeds}; {when}; revision {', '.join(revisions)}"


def _key(stream: str, method: str, inference: str | None, preset: str = "default") -> str:
    return "/".join([stream, method, *([inference] if inference else []), *([preset] if preset != "default" else [])])
