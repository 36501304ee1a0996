"""Tables of what is said of bad input hold what is said: rows of some are tried, and advice in all others is in the source."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from tests.docs.pages import NAMES, ROOT

from merlin_cl import ContinualClassifier
from merlin_cl.estimator.prequential import evaluate_prequential

ROW = re.compile(r"^\| (?P<what>.+?) \| (?:(?:\d{3}|–) \| )?(?P<said>.+?) \|$", re.MULTILINE)
HEADING = re.compile(
    r"^\| (?:what|what is given|wrong) \|(?: status \|)? (?:sentence|what is said|said) \|\n", re.MULTILINE
)
X, Y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2


def rows(name):
    """What is given and what is said, from every such table of a page."""
    text = (ROOT / name).read_text("utf-8")
    tables = [text[heading.end() :].partition("\n\n")[0] for heading in HEADING.finditer(text)]
    return {row["what"]: row["said"].strip("`") for table in tables for row in ROW.finditer(table)}


def new(**parameters):
    return ContinualClassifier("slda", **parameters)


def tickets():
    model = new(settings={"features": "inputs"}, features="hashing")
    return model.partial_fit(["a card", "a loan"] * 10, ["card", "loan"] * 10)


def winter(**parameters):
    return new(**parameters).partial_fit(X, Y, task="winter")


NAN = np.where(np.arange(60).reshape(20, 3) == 10, np.nan, X)
DAYS = pd.DataFrame({"day": pd.date_range("2020", periods=20), "b": 1.0})
NAMED = pd.DataFrame({"name": [f"c{i}" for i in range(200)], "b": 1.0})

TRIED = {
    "docs/estimator.md": {
        "NaN in a table": lambda: new().partial_fit(NAN, Y),
        '`missing="median"`': lambda: new(missing="median").partial_fit(X, Y),
        "a column of dates": lambda: new().partial_fit(DAYS, Y),
        "200 different texts in a column": lambda: new().partial_fit(NAMED, np.arange(200) % 2),
        "two weights for twenty examples": lambda: new().partial_fit(X, Y, sample_weight=[1, 2]),
        "a weight of -1": lambda: new().partial_fit(X, Y, sample_weight=[-1] * 20),
        "`standardise=True` of bytes": lambda: new(standardise=True).partial_fit(np.zeros((20, 3), np.uint8), Y),
        "columns of unlike scales, with `standardise=False`": lambda: new(standardise=False).partial_fit(
            X * np.array([1, 1, 1000]), Y
        ),
        "a sparse matrix of 20 by ten million": lambda: new().partial_fit(csr_matrix((20, 10_000_000)), Y),
        '`task="a"` with `boundaries="detected"`': lambda: new(boundaries="detected").partial_fit(X, Y, task="a"),
        '`predict(X, task="autumn")` of a task that never came': lambda: winter().predict(X, task="autumn"),
        "`evaluate_prequential(model, X, y, window=0)`": lambda: evaluate_prequential(new(), X, Y, window=0),
    },
    "docs/example-tickets.md": {
        "`model.predict([7])`": lambda: tickets().predict([7]),
        '`model.predict("my card")`': lambda: tickets().predict("my card"),
        "`model.predict([])`": lambda: tickets().predict([]),
        '`model.partial_fit(["a", "b"], ["card"])`': lambda: tickets().partial_fit(["a", "b"], ["card"]),
        '`model.partial_fit(["a"], [1])`': lambda: tickets().partial_fit(["a"], [1]),
    },
    "docs/refusing.md": {
        "`predict_set(X)` of an estimator without `calibration`": lambda: winter().predict_set(X),
        "`predict_set(X, coverage=1)`": lambda: winter(calibration=5).predict_set(X, coverage=1),
        "`predict(X, reject=1.5)`": lambda: winter().predict(X, reject=1.5),
        "`calibration=-1`": lambda: winter(calibration=-1),
        '`predict_set(X, task="none")`': lambda: winter(calibration=5).predict_set(X, task="none"),
    },
}


@pytest.mark.parametrize(("name", "what"), [(name, what) for name, tried in TRIED.items() for what in tried])
def test_what_is_said_is_what_the_page_says(name, what):
    promised = re.escape(rows(name)[what]).replace("…", ".*")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Exception, match=f"^{promised}$"):
            TRIED[name][what]()


def spoken():
    """The source as one text in which sentences that are written over several lines are whole."""
    source = " ".join(path.read_text("utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
    source += " ".join(path.read_text("utf-8") for path in sorted((ROOT / "examples").glob("*.py")))
    return " ".join(re.sub(r"\"\s+f?\"", "", source).split())


def advice(sentence):
    """The last clause of a sentence, as far as no value is in it."""
    clause = re.split(r"; ", sentence.replace("`", ""))[-1]
    words = re.split(r"\d[\d,.]*|'[^']*'|\.\.\.|…|\[|: |\b(?:b|texts|cpu.*)\b|\b[A-Z]\w*\b", clause)
    return max((part.strip(" .,") for part in words), key=len)


def test_advice_of_every_table_is_in_the_source():
    source = spoken().replace("`", "")
    everywhere = {name: rows(name) for name in NAMES}
    assert sum(map(len, everywhere.values())) > 50
    unknown = {
        (name, advice(said))
        for name, table in everywhere.items()
        for said in table.values()
        if advice(said) not in source
    }
    assert unknown == set()
