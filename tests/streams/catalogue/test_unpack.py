"""An archive is unpacked whole or not at all, and never outside its folder."""

import io
import tarfile
import zipfile

import pytest

from merlin_cl.errors import MerlinError
from merlin_cl.streams.catalogue.archives import ArchiveLimits
from merlin_cl.streams.catalogue.unpack import unpack as unpack_within

FILES = {"set/a": b"A" * 5000, "set/deep/b": b"B", "other/c": b"C"}


def unpack(archive, into, members="", files=100, size=1_000_000):
    unpack_within(archive, into, ArchiveLimits(files, size), members)


def archive(folder, kind, files=FILES, links=()):
    file = folder / f"archive.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
            for name, content in files.items():
                bundle.writestr(name, content)
    else:
        with tarfile.open(file, "w:gz") as tape:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tape.addfile(info, io.BytesIO(content))
            for name, to in links:
                info = tarfile.TarInfo(name)
                info.type, info.linkname = tarfile.SYMTYPE, to
                tape.addfile(info)
    return file


def tree(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


both = pytest.mark.parametrize("kind", ["zip", "tar.gz"])


@both
def test_all_files_are_there(tmp_path, kind):
    unpack(archive(tmp_path, kind), tmp_path / "out" / "side")
    assert tree(tmp_path / "out" / "side") == FILES
    assert [folder.name for folder in (tmp_path / "out").iterdir()] == ["side"]
    assert (tmp_path / "out" / "side").stat().st_mode & 0o055 == 0o055


@both
def test_files_that_are_there_are_replaced_and_others_stay(tmp_path, kind):
    out = tmp_path / "out"
    (out / "set").mkdir(parents=True)
    (out / "set" / "a").write_bytes(b"old")
    (out / "set" / "mine").write_bytes(b"mine")
    unpack(archive(tmp_path, kind), out)
    assert tree(out) == {**FILES, "set/mine": b"mine"}


@both
def test_only_the_members_wanted(tmp_path, kind):
    unpack(archive(tmp_path, kind), tmp_path / "out", members="set/")
    assert tree(tmp_path / "out") == {"a": FILES["set/a"], "deep/b": b"B"}
    with pytest.raises(MerlinError, match=r"has no files named nothing/\*"):
        unpack(archive(tmp_path, kind), tmp_path / "out2", members="nothing/")
    assert not (tmp_path / "out2").exists()


@both
@pytest.mark.parametrize("name", ["../escaped", "/tmp/merlin-escaped", "set/../../escaped", "set\\..\\escaped"])
def test_nothing_is_written_outside_the_folder(tmp_path, kind, name):
    file = archive(tmp_path, kind, {"set/a": b"A", name: b"evil"})
    with pytest.raises(MerlinError, match="outside its folder; nothing of it was unpacked"):
        unpack(file, tmp_path / "in" / "out")
    assert tree(tmp_path) == {file.name: file.read_bytes()}


def test_links_are_left_out(tmp_path):
    unpack(archive(tmp_path, "tar.gz", links=[("set/link", "/etc/passwd")]), tmp_path / "out")
    assert tree(tmp_path / "out") == FILES


@both
def test_a_damaged_archive_leaves_nothing(tmp_path, kind):
    file = archive(tmp_path, kind, {f"set/{number}": bytes(range(256)) * number for number in range(50)})
    whole = file.read_bytes()
    altered = bytearray(whole)
    altered[len(whole) // 2] ^= 0xFF
    for content in (whole[: len(whole) // 2], b"", b"<html>", bytes(altered)):
        file.write_bytes(content)
        with pytest.raises(MerlinError, match=r"archive\.\S+ is damaged"):
            unpack(file, tmp_path / "in" / "out")
        assert tree(tmp_path / "in") == {}
        assert list((tmp_path / "in").iterdir()) == []
