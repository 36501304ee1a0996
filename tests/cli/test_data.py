"""`merlin data`: what is here, how to get the rest, whether it is whole."""

import io
import json
import subprocess
import sys
import tarfile
from dataclasses import replace

import pytest

from merlin_cl.streams import catalogue
from streams import official
from streams.catalogue.test_fetch import md5
from streams.server import running


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """An empty data folder, and nothing of this machine."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("MERLIN_DATA", str(folder))
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *names, **options: str(folder / "empty"))
    return folder


@pytest.fixture
def small_not_mnist(tmp_path_factory, monkeypatch):
    """notMNIST's entry for a small one that a server on loopback has."""
    folder = official.write_not_mnist(tmp_path_factory.mktemp("made"))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tape:
        tape.add(folder, "notMNIST_small")
    content = packed.getvalue()
    with running() as server:
        server.contents["notMNIST_small.tar.gz"] = content
        known = catalogue.entry("notmnist")
        dead = server.url("missing", "notMNIST_small.tar.gz")
        download = replace(known.downloads[0], urls=(dead,), size=len(content), checksum=md5(content))
        entries = tuple(replace(one, downloads=(download,)) if one is known else one for one in catalogue.ENTRIES)
        monkeypatch.setattr("merlin_cl.streams.catalogue.entries.ENTRIES", entries)
        yield server


def test_list_shows_every_data_set_and_stream(merlin, home):
    official.write_cifar10(home)
    code, out, err = merlin("data", "list")
    assert code == 0
    for name in ("cifar10", "mini-imagenet", "facescrub", "split-cifar100-20", "heterogeneous"):
        assert name in out
    assert "a slice within" in out
    assert str(home) in err


def test_list_as_json_says_what_is_present_and_what_lacks(merlin, home):
    place = official.write_cifar10(home)
    code, out, _ = merlin("data", "list", "--json")
    assert code == 0
    said = json.loads(out)
    sets = {one["name"]: one for one in said["data_sets"]}
    assert sets["cifar10"]["present"]
    assert sets["cifar10"]["folder"] == str(place)
    assert sets["cifar10"]["bytes"] == sum(file.stat().st_size for file in place.iterdir())
    assert sets["cifar100"]["present"] is False
    assert sets["cifar100"]["get"] == "merlin data get cifar100"
    assert sets["facescrub"]["get"] == "by hand"
    assert sets["mnist"]["embedded"]
    assert all(one["licence"] for one in sets.values())
    lacking = {one["name"]: one["lacking"] for one in said["streams"]}
    assert lacking["split-cifar10"] == lacking["split-mnist"] == []
    assert lacking["split-cifar100"] == ["cifar100"]


def test_list_of_a_named_folder(merlin, tmp_path):
    official.write_svhn(tmp_path)
    said = json.loads(merlin("data", "list", "--json", "--data", tmp_path)[1])
    assert [one["name"] for one in said["data_sets"] if one["present"]] == ["svhn"]


def test_where(merlin, home):
    assert merlin("data", "where")[:2] == (0, f"{home}\n")
    assert json.loads(merlin("data", "where", "--json")[1])["folder"] == str(home)


def test_get_verify_and_get_again(merlin, home, small_not_mnist):
    mirror = small_not_mnist.url("good", "")
    code, out, err = merlin("data", "get", "notmnist", "--mirror", mirror)
    assert code == 0
    assert out == f"notmnist written to {home}/notMNIST/notMNIST_small\n"
    assert "licence" in err
    assert [one.name for one in home.iterdir()] == ["notMNIST"]

    code, out, _ = merlin("data", "verify", "notmnist", "--json")
    assert code == 0
    (finding,) = json.loads(out)
    assert (finding["good"], finding["train"], finding["test"], finding["classes"]) == (True, 80, 20, 10)

    code, out, _ = merlin("data", "get", "notmnist")
    assert code == 0
    assert "is already in" in out
    assert len(small_not_mnist.asked) == 1


def test_get_that_fails_leaves_nothing_and_says_why(merlin, home, small_not_mnist):
    code, out, err = merlin("data", "get", "notmnist", "--mirror", small_not_mnist.url("wrong", ""))
    assert code == 1
    assert out == ""
    assert "sent something else" in err
    assert "answered 404 (Not Found)" in err
    assert list(home.iterdir()) == []


def test_a_disk_that_is_full_when_unpacking_is_named_and_not_kept_full(merlin, home, small_not_mnist, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    code, _, err = merlin("data", "get", "notmnist", "--mirror", small_not_mnist.url("good", ""))
    assert code == 1
    assert f"could not be unpacked (No space left on device at {home}" in err
    assert list(home.iterdir()) == []


def test_get_goes_on_with_the_others_when_one_fails(merlin, home, small_not_mnist):
    code, out, err = merlin("data", "get", "facescrub", "notmnist", "--mirror", small_not_mnist.url("good", ""))
    assert code == 1
    assert "notmnist written to" in out
    assert f"{home}/FaceScrub/<person>/<image>.jpg" in err


def test_get_by_the_name_of_a_stream(merlin, home):
    code, _, err = merlin("data", "get", "split-miniimagenet")
    assert code == 1
    assert "ILSVRC2012_img_train.tar" in err
    assert f"{home}/mini-imagenet" in err


def test_verify_names_what_is_wrong(merlin, home):
    official.write_cifar10(home)
    place = official.write_traffic_signs(home)
    broken = place / "train" / "00007" / "00001_00000.png"
    broken.write_bytes(b"no image")
    code, out, err = merlin("data", "verify", "--json")
    assert code == 1
    findings = {one["name"]: one for one in json.loads(out)}
    assert set(findings) == {"cifar10", "gtsrb"}
    assert findings["cifar10"]["wrong"][0].startswith("data_batch_1 differs from the published file (")
    assert findings["gtsrb"]["wrong"][0].startswith(f"{broken} cannot be read as an image")
    assert "Not as they should be: cifar10, gtsrb" in err
    code, out, _ = merlin("data", "verify")
    assert code == 1
    assert "unreadable" in out


def test_verify_with_nothing_to_check(merlin):
    code, _, err = merlin("data", "verify")
    assert code == 0
    assert "No data sets are here yet" in err
    code, _, err = merlin("data", "verify", "svhn")
    assert code == 1
    assert "There is no SVHN in" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "merlin data wants one of list, get, verify, where"),
        (["lits"], "did you mean 'list'"),
        (["get"], "wants the name of a data set or a stream"),
        (["get", "mnist", "--mirror", "nowhere"], "--mirror nowhere is no address; give one that begins with https"),
        (["get", "mnist", "--mirror", "ftp://example.org/"], "is no address"),
        (["get", "mnist", "--mirror", ""], "is no address"),
        (["get", "cifar1000"], "Unknown data set or stream 'cifar1000'; did you mean 'cifar100'"),
        (["verify", "mnits"], "did you mean 'mnist'"),
        (["list", "--jsno"], "did you mean '--json'"),
        (["list", "too", "many"], "one argument too many"),
    ],
)
def test_wrong_usage(merlin, arguments, sentence):
    code, out, err = merlin("data", *arguments)
    assert code == 2
    assert out == ""
    assert sentence in err


def test_help(merlin):
    code, out, _ = merlin("data", "--help")
    assert code == 0
    assert all(name in out for name in ("list", "get", "verify", "where"))
    assert "data" in merlin("--help")[1]


def test_a_data_folder_that_does_not_exist(merlin, home, monkeypatch, small_not_mnist):
    """It is named where data are looked for, and made where they are fetched."""
    monkeypatch.setenv("MERLIN_DATA", str(home / "new"))
    code, _, err = merlin("data", "list")
    assert code == 2
    assert "MERLIN_DATA" in err
    assert merlin("data", "where")[0] == 0
    assert merlin("data", "get", "notmnist", "--mirror", small_not_mnist.url("good", ""))[0] == 0
    assert merlin("data", "list")[0] == 0


@pytest.mark.parametrize("subcommand", ["list", "where", "get"])
def test_torch_and_numpy_are_not_imported(subcommand):
    code = (
        "import sys; from merlin_cl.cli import exit_code;"
        f"exit_code(['data', {subcommand!r}, *(['facescrub'] if {subcommand!r} == 'get' else [])]);"
        "sys.exit(bool({'torch', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
