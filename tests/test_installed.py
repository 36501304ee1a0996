"""Entry points of packages that come while the process runs."""

from merlin_cl.installed import entry_points

GROUP = "merlin_cl.tests"


def install(folder, name):
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {name}:thing\n")


def names():
    return sorted(point.name for point in entry_points(GROUP))


def test_a_package_is_there_as_soon_as_it_is_installed_and_gone_as_soon_as_the_path_is(tmp_path, monkeypatch):
    assert names() == []
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        assert names() == []
        install(tmp_path, "one")
        assert names() == ["one"]
        install(tmp_path, "two")
        assert names() == ["one", "two"]
        assert [point.value for point in entry_points(GROUP, "two")] == ["two:thing"]
        assert not entry_points(GROUP, "three")
    assert names() == []
