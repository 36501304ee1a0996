"""Data are looked for where the user says, and nowhere else; otherwise in MERLIN_DATA, then in the cache."""

import pytest

from merlin_cl.errors import MissingPathError
from merlin_cl.streams.catalogue import entry
from merlin_cl.streams.data_dirs import find, searched, usual_folders


def test_the_folder_that_is_named_is_the_only_one(tmp_path, monkeypatch):
    monkeypatch.setenv("MERLIN_DATA", str(tmp_path))
    (tmp_path / "named").mkdir()
    assert searched(tmp_path / "named") == [tmp_path / "named"]
    assert searched()[0] == tmp_path == usual_folders()[0]
    monkeypatch.delenv("MERLIN_DATA")
    assert len(usual_folders()) == 1


def test_a_folder_that_is_not_there_is_named(tmp_path, monkeypatch):
    with pytest.raises(MissingPathError, match=r"The data folder .*nowhere is not a folder; make it"):
        searched(tmp_path / "nowhere")
    monkeypatch.setenv("MERLIN_DATA", str(tmp_path / "gone"))
    with pytest.raises(MissingPathError, match=r"MERLIN_DATA, the data folder .*gone is not a folder"):
        searched()


def test_a_data_set_is_where_one_of_its_signs_is(tmp_path):
    wanted = entry("svhn")
    place = tmp_path / wanted.folders[0]
    place.mkdir(parents=True)
    assert find(wanted, tmp_path) is None
    (place / wanted.signs[0].replace("*", "x")).touch()
    assert find(wanted, tmp_path) == place
