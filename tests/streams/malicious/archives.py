"""Archives made to do harm: to write elsewhere, to fill the disk or the memory, or to fail in a way nobody has thought of."""

import gzip
import io
import stat
import struct
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable

FILES, SIZE = 50, 200_000
"""What may come out of each of them."""

ARCHIVES: dict[str, Callable[[], tuple[str, bytes]]] = {}
"""By name: what makes the archive, as its suffix and its content."""


def zipped(files, method=zipfile.ZIP_DEFLATED, alter=lambda content: content) -> tuple[str, bytes]:
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", method) as bundle:
        warnings.simplefilter("ignore")  # of duplicates
        for name, content in files:
            bundle.writestr(name, content)
    return "zip", bytes(alter(made.getvalue()))


def member(name, content=b"", **facts) -> bytes:
    """A member of a tar archive: header, content, padding."""
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for fact, value in facts.items():
        setattr(info, fact, value)
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


def taped(*members: bytes, end: bytes = bytes(1024)) -> tuple[str, bytes]:
    return "tar.gz", gzip.compress(b"".join(members) + end, compresslevel=1)


def patched(content: bytes, *changes: tuple[bytes, int, bytes]) -> bytes:
    """The content with bytes put at an offset from every place where a signature is."""
    altered = bytearray(content)
    for signature, offset, value in changes:
        at = altered.find(signature)
        while at >= 0:
            altered[at + offset : at + offset + len(value)] = value
            at = altered.find(signature, at + 4)
    return bytes(altered)


LOCAL, LISTED, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
GOOD = ("set/a", b"A" * 500)

# Elsewhere

for name in ("../up", "/tmp/merlin-absolute", "set/../../up", "set\\..\\up", "C:up", "", ".", "./"):
    if name not in ("", "./"):
        ARCHIVES[f"zip: {name!r}"] = lambda name=name: zipped([GOOD, (name, b"evil")])
    if name not in ("", ".", "./"):
        ARCHIVES[f"tar: {name!r}"] = lambda name=name: taped(member(*GOOD), member(name, b"evil"))


def deep_link():
    """A link to elsewhere, and a file behind it."""
    link = member("set/out", type=tarfile.SYMTYPE, linkname="/tmp")
    return taped(member(*GOOD), link, member("set/out", b"file"), member("set/out/merlin-behind", b"evil"))


ARCHIVES["tar: a file behind a link"] = deep_link
ARCHIVES["tar: nothing but links"] = lambda: taped(
    member("set/a", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
    member("b", type=tarfile.LNKTYPE, linkname="/etc/passwd"),
)
ARCHIVES["tar: nothing but devices"] = lambda: taped(
    member("set/zero", type=tarfile.CHRTYPE, devmajor=1, devminor=5), member("set/pipe", type=tarfile.FIFOTYPE)
)


def zip_link():
    info = zipfile.ZipInfo("set/link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zipped([(info, b"/etc/passwd")])


ARCHIVES["zip: nothing but a link"] = zip_link

# Names

ARCHIVES["zip: twice the same name"] = lambda: zipped([GOOD, GOOD])
ARCHIVES["tar: twice the same name"] = lambda: taped(member(*GOOD), member(*GOOD))
ARCHIVES["tar: the same name in another way"] = lambda: taped(member("set/a", b"1"), member("set/./a", b"2"))
ARCHIVES["zip: the same name in capitals"] = lambda: zipped([("set/a", b"1"), ("SET/A", b"2")])
ARCHIVES["tar: a file that is also a folder"] = lambda: taped(member("set", b"1"), member("set/a", b"2"))
ARCHIVES["zip: a folder that is also a file"] = lambda: zipped([("set/a", b"1"), ("set", b"2")])
ARCHIVES["zip: a name too long"] = lambda: zipped([("n" * 300, b"1")])
ARCHIVES["tar: a name too long"] = lambda: taped(member("n" * 5000, b"1"))
ARCHIVES["zip: a path too long"] = lambda: zipped([("/".join(["deep"] * 5000), b"1")])
ARCHIVES["tar: a name that commands the terminal"] = lambda: taped(member("set/\x1b[2Ja\nb", b"1"))
ARCHIVES["zip: a name that commands the terminal"] = lambda: zipped([("set/\x1b]0;x\x07", b"1")])

# Bombs

ARCHIVES["zip: a member of a gigabyte"] = lambda: zipped(
    [("set/a", bytes(1000))],
    alter=lambda c: patched(c, (LOCAL, 22, struct.pack("<I", 2**30)), (LISTED, 24, struct.pack("<I", 2**30))),
)
ARCHIVES["zip: much out of little"] = lambda: zipped([("set/a", bytes(SIZE + 1))])
ARCHIVES["zip: many members that are much together"] = lambda: zipped([(f"set/{n}", bytes(5000)) for n in range(45)])
ARCHIVES["zip: more members than declared"] = lambda: zipped([(f"set/{n}", b"") for n in range(FILES + 1)])
ARCHIVES["tar: more members than declared"] = lambda: taped(*(member(f"set/{n}") for n in range(FILES + 1)))
ARCHIVES["tar: folders without end"] = lambda: taped(*(member(f"s{n}", type=tarfile.DIRTYPE) for n in range(20_000)))
ARCHIVES["tar: much out of little"] = lambda: taped(member("set/a", bytes(50_000_000)))
ARCHIVES["tar: a member of eight gigabytes"] = lambda: taped(member("set/a", size=2**33))
ARCHIVES["tar: a bomb behind the end"] = lambda: taped(member(*GOOD), end=bytes(50_000_000))
ARCHIVES["tar: a member of negative length"] = lambda: taped(negative(member("set/a", b"1")))
ARCHIVES["tar: a long name of megabytes"] = lambda: taped(
    member("././@LongLink", b"n" * 30_000_000, type=tarfile.GNUTYPE_LONGNAME), member("set/a", b"1")
)
ARCHIVES["tar: a header of megabytes"] = lambda: taped(
    member("pax", b"30000000 path=" + b"n" * 30_000_000, type=tarfile.XHDTYPE), member("set/a", b"1")
)
ARCHIVES["tar: headers of headers"] = lambda: taped(
    *(member("pax", b"11 path=abc", type=tarfile.XHDTYPE) for _ in range(3000)), member("set/a", b"1")
)
ARCHIVES["tar: a header that lies about its length"] = lambda: taped(
    member("pax", b"999999999 path=abc\n", type=tarfile.XHDTYPE), member("set/a", b"1")
)
ARCHIVES["tar: a size in the header of the header"] = lambda: taped(
    member("pax", b"21 size=99999999999\n", type=tarfile.XHDTYPE), member("set/a", b"1")
)
ARCHIVES["tar: a file with holes"] = lambda: taped(
    member("pax", b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n26 GNU.sparse.name=set/a\n"
           b"33 GNU.sparse.realsize=999999999\n", type=tarfile.XHDTYPE),
    member("set/a", b"1\n999999990\n1\n".ljust(512, b"\0") + b"x"),
)  # fmt: skip
ARCHIVES["tar: an old file with holes"] = lambda: taped(member("set/a", b"1", type=tarfile.GNUTYPE_SPARSE))
ARCHIVES["zip: a list as long as memory"] = lambda: zipped(
    [GOOD], alter=lambda c: patched(c, (END, 12, struct.pack("<I", 2**32 - 2)))
)
ARCHIVES["zip: a list that is not where it says"] = lambda: zipped(
    [GOOD], alter=lambda c: patched(c, (END, 16, struct.pack("<I", 10**9)))
)


def overlapping():
    """Two members that are the same bytes."""
    _, content = zipped([("set/a", bytes(1000)), ("set/b", bytes(1000))])
    first, second = content.find(LISTED), content.rfind(LISTED)
    altered = bytearray(content)
    altered[second + 42 : second + 46] = content[first + 42 : first + 46]
    return "zip", bytes(altered)


ARCHIVES["zip: members upon each other"] = overlapping


def negative(header: bytes) -> bytes:
    """The header with a length below zero, and a checksum that fits."""
    altered = bytearray(header)
    altered[124:136] = b"\xff" * 12
    altered[148:156] = b" " * 8
    altered[148:156] = b"%06o\0 " % sum(altered[:512])
    return bytes(altered)


# Encryption and compression

FLAG = struct.pack("<H", 1)
ARCHIVES["zip: encrypted"] = lambda: zipped([GOOD], alter=lambda c: patched(c, (LOCAL, 6, FLAG), (LISTED, 8, FLAG)))
STRONG = struct.pack("<H", 0x41)
ARCHIVES["zip: strongly encrypted"] = lambda: zipped(
    [GOOD], alter=lambda c: patched(c, (LOCAL, 6, STRONG), (LISTED, 8, STRONG))
)
for number in (6, 9, 14, 95, 99):
    CHANGED = struct.pack("<H", number)
    ARCHIVES[f"zip: compressed by method {number}"] = lambda method=CHANGED: zipped(
        [GOOD], alter=lambda c: patched(c, (LOCAL, 8, method), (LISTED, 10, method))
    )
ARCHIVES["zip: bzip2"] = lambda: zipped([GOOD], zipfile.ZIP_BZIP2)
ARCHIVES["zip: lzma"] = lambda: zipped([GOOD], zipfile.ZIP_LZMA)
ARCHIVES["zip: a version that does not exist"] = lambda: zipped(
    [GOOD], alter=lambda c: patched(c, (LISTED, 6, struct.pack("<H", 999)))
)
ARCHIVES["tar: xz in place of gz"] = lambda: ("tar.gz", b"\xfd7zXZ\0" + bytes(500))
ARCHIVES["tar: not compressed"] = lambda: ("tar.gz", member(*GOOD) + bytes(1024))

# Damage

ARCHIVES["zip: another file behind the listed name"] = lambda: zipped(
    [GOOD], alter=lambda c: patched(c, (LOCAL, 30, b"evil/"))
)
ARCHIVES["zip: a wrong checksum"] = lambda: zipped([GOOD], zipfile.ZIP_STORED, lambda c: c.replace(b"AAAA", b"AABA", 1))
ARCHIVES["zip: stored, but longer than it is"] = lambda: zipped(
    [GOOD],
    zipfile.ZIP_STORED,
    lambda c: patched(c, *((sign, at, struct.pack("<II", 5000, 5000)) for sign, at in ((LOCAL, 18), (LISTED, 20)))),
)
ARCHIVES["zip: cut off"] = lambda: zipped([GOOD], alter=lambda c: c[: len(c) // 2])
ARCHIVES["zip: empty"] = lambda: zipped([])
ARCHIVES["tar: empty"] = lambda: taped()
ARCHIVES["tar: cut off"] = lambda: ("tar.gz", taped(member("set/a", bytes(range(256)) * 40))[1][:-100])
ARCHIVES["tar: a wrong checksum of the whole"] = lambda: ("tar.gz", taped(member(*GOOD))[1][:-8] + bytes(8))
ARCHIVES["tar: noise"] = lambda: ("tar.gz", gzip.compress(zlib.compress(bytes(range(256))) * 50))
ARCHIVES["zip: a page of HTML"] = lambda: ("zip", b"<html>404</html>")
ARCHIVES["tar: a page of HTML"] = lambda: ("tar.gz", b"<html>404</html>")
ARCHIVES["zip: nothing"] = lambda: ("zip", b"")
ARCHIVES["tar: nothing"] = lambda: ("tar.gz", b"")
