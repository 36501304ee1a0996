"""A file is the published one if its checksum is."""

from merlin_cl.streams.catalogue.checksum import digest, matches

SHA256 = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


def test_a_file_matches_its_own_checksum_and_no_other(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"hello")
    assert digest(file, "sha256") == SHA256
    assert digest(file, "md5") == "md5:5d41402abc4b2a76b9719d911017c592"
    assert matches(file, SHA256)
    assert not matches(file, SHA256[:-1] + "5")
    assert not matches(tmp_path / "another", SHA256)
    assert not matches(tmp_path, SHA256)
