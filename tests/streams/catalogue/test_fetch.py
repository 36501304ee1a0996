"""The catalogue is consistent, and getting a data set fetches what is missing, once, and spares what is the user's."""

import hashlib
import io
import re
import subprocess
import sys
import tarfile
from dataclasses import replace
from urllib.parse import urlparse

import pytest

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.streams.catalogue import ENTRIES, Archive, Download, Entry, PublishedFile, entry
from merlin_cl.streams.catalogue.fetch import ByHandError, get
from merlin_cl.streams.catalogue.verify import differing
from merlin_cl.streams.data_dirs import find
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.datasets.load import READERS
from merlin_cl.streams.registry import BUILT_IN
from streams import official
from streams.server import running

SMALL = Archive(".", files=10, size=10_000_000)
DIGITS = {"md5": 32, "sha256": 64}


def md5(content):
    return f"md5:{hashlib.md5(content).hexdigest()}"


# What the catalogue says


@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.name)
def test_entries_are_complete(one):
    assert one.title
    assert one.licence
    assert one.name in READERS
    assert bool(one.downloads) != bool(one.by_hand)
    assert not one.by_hand or "{folder}" in one.by_hand
    for checksum in [file.checksum for file in (*one.downloads, *one.published) if file.checksum]:
        kind, _, digits = checksum.partition(":")
        assert re.fullmatch(rf"[0-9a-f]{{{DIGITS[kind]}}}", digits)
    for download in one.downloads:
        assert download.size > 0
        assert download.urls
        assert all(urlparse(url).scheme in ("http", "https") and urlparse(url).netloc for url in download.urls)
        if download.archive is not None:
            assert download.archive.sign or one.published  # otherwise nobody could tell that it is there
            assert download.size < download.archive.size < 12 * download.size
        schemes = [urlparse(url).scheme for url in download.urls]
        assert schemes == sorted(schemes, reverse=True)  # https first
        assert download.checksum or set(schemes) == {"https"}
        assert download.exact or not download.checksum


def test_every_checksum_that_can_be_is_a_sha256():
    said = {one.name: one.checked_by for one in ENTRIES}
    assert said["mnist"] == said["fashion-mnist"] == "SHA-256"
    assert said["cifar10"] == said["cifar100"] == "SHA-256 (its archive: MD5)"
    assert said["svhn"] == said["gtsrb"] == "MD5, all that its publisher gives"
    assert said["audiomnist"] == said["notmnist"] == said["mini-imagenet"] == said["facescrub"] == ""


def test_every_data_set_is_read_by_a_stream_and_every_stream_reads_known_ones():
    read = {name for kind in BUILT_IN.values() for name in kind.data_sets}
    assert read == {one.name for one in ENTRIES} == set(READERS)


def test_every_data_set_is_found_where_the_catalogue_says(data):
    for one in ENTRIES:
        place = find(one, data)
        assert place is not None, one.name
        assert open_data_set(one.name, data).place == str(place)


def test_nothing_is_found_in_an_empty_folder(tmp_path):
    assert [find(one, tmp_path) for one in ENTRIES] == [None] * len(ENTRIES)


def test_an_unknown_data_set_suggests_the_nearest():
    with pytest.raises(UsageError, match="Unknown data set 'cifar-10'; did you mean 'cifar10'"):
        entry("cifar-10")


def test_the_catalogue_imports_neither_torch_nor_numpy():
    code = (
        "import sys, merlin_cl.streams.catalogue.fetch, merlin_cl.streams.data_dirs;"
        "sys.exit(bool({'torch', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Getting


@pytest.fixture
def server():
    with running() as server:
        yield server


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("MERLIN_DATA", str(folder))
    return folder


def quiet(name, there, total):
    pass


@pytest.fixture
def small_cifar(tmp_path, server):
    """CIFAR-100's entry for a small one that the server has."""
    folder = official.write_cifar100(tmp_path / "made")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tape:
        tape.add(folder, "cifar-100-python")
    server.contents["cifar.tar.gz"] = packed.getvalue()
    url = server.url("good", "cifar.tar.gz")
    download = Download("cifar.tar.gz", (url,), len(packed.getvalue()), md5(packed.getvalue()), SMALL)
    contents = {name: (folder / name).read_bytes() for name in ("train", "test")}
    published = tuple(PublishedFile(name, len(content), md5(content)) for name, content in contents.items())
    return replace(entry("cifar100"), downloads=(download,), published=published)


def test_an_archive_is_fetched_unpacked_and_taken_away(home, small_cifar, server):
    assert get(small_cifar, home, quiet) == [home]
    assert sorted(file.name for file in home.iterdir()) == ["cifar-100-python"]
    assert differing(small_cifar, home / "cifar-100-python") == {}
    assert len(open_data_set("cifar100").read("train")) == 600
    assert get(small_cifar, home, quiet) == []
    assert len(server.asked) == 1


def test_a_missing_file_is_fetched_again(home, small_cifar):
    get(small_cifar, home, quiet)
    (home / "cifar-100-python" / "test").unlink()
    assert differing(small_cifar, home / "cifar-100-python") == {"test": "is missing"}
    assert get(small_cifar, home, quiet) == [home]
    assert differing(small_cifar, home / "cifar-100-python") == {}


def test_a_file_that_is_not_as_published_is_left_alone_unless_asked(home, small_cifar, server):
    official.write_cifar100(home, per_class=3)
    before = (home / "cifar-100-python" / "train").read_bytes()
    with pytest.raises(MerlinError, match=r"train differs from the published file .*left alone; .*cifar100 --again"):
        get(small_cifar, home, quiet)
    assert (home / "cifar-100-python" / "train").read_bytes() == before
    assert server.asked == []
    get(small_cifar, home, quiet, again=True)
    assert differing(small_cifar, home / "cifar-100-python") == {}


def test_a_data_set_in_another_form_is_left_alone(home, server):
    official.write_not_mnist(home)
    assert get(entry("notmnist"), home, quiet) == []
    official.write_traffic_signs(home)
    assert get(entry("gtsrb"), home, quiet) == []


def test_single_files_are_fetched_where_they_are_missing(home, server):
    contents = {f"{name}.gz": name.encode() * 100 for name in ("one", "two")}
    server.contents |= contents
    made = Entry(
        "made",
        "Made",
        "none",
        folders=("Made",),
        signs=("*.gz",),
        downloads=tuple(
            Download(f"Made/{name}", (server.url("good", name),), len(content), md5(content))
            for name, content in contents.items()
        ),
        published=tuple(PublishedFile(name, len(content), md5(content)) for name, content in contents.items()),
    )
    get(made, home, quiet)
    (home / "Made" / "two.gz").unlink()
    assert get(made, home, quiet) == [home / "Made" / "two.gz"]
    assert differing(made, home / "Made") == {}
    assert len(server.asked) == 3


def test_a_damaged_archive_leaves_nothing(home, small_cifar, server):
    content = server.contents["cifar.tar.gz"][:-50]
    server.contents["cifar.tar.gz"] = content
    damaged = replace(small_cifar, downloads=(replace(small_cifar.downloads[0], checksum=None, size=len(content)),))
    with pytest.raises(MerlinError, match=r"cifar\.tar\.gz is damaged"):
        get(damaged, home, quiet)
    assert list(home.iterdir()) == []


def test_an_archive_whose_files_are_not_as_published_is_not_unpacked(home, small_cifar, server):
    train, test = small_cifar.published
    other = replace(small_cifar, published=(train, replace(test, checksum="sha256:" + "0" * 64)))
    with pytest.raises(MerlinError, match=r"test in \S+cifar\.tar\.gz differs from the published file .*nothing of it"):
        get(other, home, quiet)
    assert list(home.iterdir()) == []


def test_more_than_was_declared_is_not_unpacked(home, small_cifar, server):
    for archive in (replace(SMALL, files=1), replace(SMALL, size=1000)):
        greedy = replace(small_cifar, downloads=(replace(small_cifar.downloads[0], archive=archive),))
        with pytest.raises(MerlinError, match=r"than the 1(,000)? (members|bytes) that were declared"):
            get(greedy, home, quiet)
        assert list(home.iterdir()) == []


def test_a_mirror_is_tried_first_and_the_known_ones_after_it(home, small_cifar, server):
    get(small_cifar, home, quiet, mirror=server.url("missing", ""))
    assert [behaviour for behaviour, _ in server.asked] == ["missing", "good"]


@pytest.mark.parametrize("name", ["mini-imagenet", "facescrub"])
def test_what_may_not_be_fetched_is_explained(home, name):
    with pytest.raises(
        ByHandError, match=rf"cannot be fetched for you\. .*http.*{home / entry(name).folders[0]}.*verify"
    ):
        get(entry(name), home, quiet)
    official.write_facescrub(home)
    official.write_mini_imagenet(home, [1])
    assert get(entry(name), home, quiet) == []


def test_decompressed_files_are_not_missing(tmp_path):
    official.write_mnist(tmp_path, compressed=False)
    assert differing(entry("mnist"), tmp_path) == {}
