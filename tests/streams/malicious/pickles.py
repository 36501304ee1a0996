"""Pickles made to do harm: to run something, to take memory or time, or to fail in a way nobody has thought of."""

import os
import pickle
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

PICKLES: dict[str, Callable[[Path], bytes]] = {}
"""By name: what makes the pickle, given a file that would be there if the pickle had its way."""


def case(make: Callable[[Path], bytes]) -> Callable[[Path], bytes]:
    PICKLES[make.__name__.replace("_", " ")] = make
    return make


def fixed(name: str, content: bytes) -> None:
    PICKLES[name] = lambda harm: content


class Calls:
    """Names something to call."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


# Calls


for protocol in (0, 2, 4, 5):
    for nested in (False, True):

        def system(harm, protocol=protocol, nested=nested):
            call = Calls(os.system, f"touch {harm}")
            value = {"data": np.zeros(3, np.uint8), "labels": [call]} if nested else call
            return pickle.dumps(value, protocol)

        PICKLES[f"os.system, protocol {protocol}{', within' * nested}"] = system

for title, arguments in {
    "a process": lambda harm: (subprocess.Popen, ["touch", str(harm)]),
    "eval": lambda harm: (eval, f"open({str(harm)!r}, 'w')"),
    "exec": lambda harm: (exec, f"open({str(harm)!r}, 'w')"),
    "a method of a path": lambda harm: (Path.touch, harm),
    "an array's own file": lambda harm: (np.ndarray.tofile, np.zeros(3), str(harm)),
    "getattr": lambda harm: (getattr, "text", "__class__"),
    "a pickle in a pickle": lambda harm: (pickle.loads, pickle.dumps(Calls(os.system, f"touch {harm}"))),
    "a folder taken away": lambda harm: (shutil.rmtree, str(harm)),
    "numpy's own loader": lambda harm: (np.load, str(harm)),
}.items():
    PICKLES[title] = lambda harm, arguments=arguments: pickle.dumps(Calls(*arguments(harm)), 2)

fixed("another encoding", b"c_codecs\nencode\n(Vtext\nVrot13\ntR.")
fixed("a dotted name", b"\x80\x04\x8c\x0bcollections\x8c\x14OrderedDict.fromkeys\x93(V1\nV2\ntR.")
fixed("a name that is a number", b"\x80\x04K\x01K\x02\x93.")
fixed("a name that commands the terminal", b"\x80\x04\x8c\x08\x1b]0;me\x07\x0a\x8c\x07x\x1b[31my\x93.")
fixed("a name as long as a book", b"\x80\x04X" + struct.pack("<I", 10**6) + b"m" * 10**6 + b"\x8c\x01n\x93.")
fixed("a call of text", b"Vos.system\n(Vtouch\ntR.")
fixed("a call without a tuple", b"ccollections\nOrderedDict\n]R.")
fixed("a function as the data", b"}Vdata\nccollections\nOrderedDict\ns.")
fixed("a type as the data", b"}Vdata\ncnumpy\ndtype\n(Vu1\nI0\nI1\ntRs.")

# Steps that no data set needs

fixed("INST", b"(Vtouch\nios\nsystem\n.")
fixed("OBJ", b"(cos\nsystem\nVtouch\no.")
fixed("OBJ of a name that is known", b"(ccollections\nOrderedDict\no.")
fixed("NEWOBJ", b"\x80\x02ccollections\nOrderedDict\n)\x81.")
fixed("NEWOBJ_EX", b"\x80\x04ccollections\nOrderedDict\n)}\x92.")
fixed("EXT1", b"\x80\x02\x82\x01.")
fixed("EXT2", b"\x80\x02\x83\x01\x00.")
fixed("EXT4", b"\x80\x02\x84\x01\x00\x00\x00.")
fixed("PERSID", b"Ptouch\n.")
fixed("BINPERSID", b"Vtouch\nQ.")
fixed("NEXT_BUFFER", b"\x80\x05\x97.")
fixed("READONLY_BUFFER", b"\x80\x05\x97\x98.")
fixed("a set", b"\x80\x04\x8f(K\x01K\x02\x90.")
fixed("DUP", b"]" + b"2a" * 100 + b".")
fixed("a number of a megabyte", b"\x80\x02\x8b" + struct.pack("<i", 10**6) + b"\xff" * 10**6 + b".")

# Memory and time


def laughs(opened: bytes, closed: bytes, deep: int = 30) -> bytes:
    """Something in ten of itself, again and again."""
    made = opened + b"Vha\n" + closed + b"q\x00"
    for level in range(1, deep):
        made += opened + b"h" + bytes([level - 1]) + b"".join(b"h" + bytes([level - 1]) for _ in range(9)) + closed
        made += b"q" + bytes([level])
    return made


fixed("laughs of lists", laughs(b"(", b"l", 8) + b".")
fixed("laughs of tuples", laughs(b"(", b"t") + b".")
fixed("laughs as a key", b"}" + laughs(b"(", b"t") + b"Vvalue\ns.")
fixed(
    "laughs of dictionaries",
    b"}Va\nVha\nsq\x00"
    + b"".join(
        b"}(" + b"".join(b"V%d\nh%c" % (key, level) for key in range(10)) + b"uq" + bytes([level + 1])
        for level in range(20)
    )
    + b".",
)
fixed("a list of labels in a list of labels", b"}Vlabels\n" + laughs(b"(", b"l", 12) + b"s.")
fixed("a large LONG_BINPUT", b"\x80\x02Nr\xff\xff\xff\x7f0])a\x85r\xff\xff\xff\xffc.")
fixed("a large PUT", b"Np99999999999999999999999999\nbroken.")
fixed("a PUT of many digits", b"Np" + b"9" * 100_000 + b"\n.")
fixed("a number of many digits", b"L" + b"9" * 1_000_000 + b"L\n.")
for code, kind in ((b"B", "<I"), (b"X", "<I"), (b"\x8e", "<Q"), (b"\x8d", "<Q"), (b"\x96", "<Q"), (b"T", "<i")):
    most = {"<I": 2**32 - 1, "<Q": 2**40, "<i": 2**31 - 1}[kind]
    fixed(f"{most:,} bytes announced by {code!r}", code + struct.pack(kind, most) + b"short.")
fixed("a negative length", b"T" + struct.pack("<i", -1) + b".")
fixed("a frame of an exabyte", b"\x80\x04\x95" + struct.pack("<Q", 2**60))
MILLION = b"X" + struct.pack("<I", 10**6) + b"a" * 10**6 + b"q\x00"
fixed(
    "copies by encoding",
    b"(" + MILLION + b"c_codecs\nencode\nq\x01Vlatin1\nq\x02" + b"h\x01h\x00h\x02\x86R" * 2000 + b"l.",
)
TYPE = b"cnumpy\ndtype\n(Vu1\nI0\nI1\ntRq\x02"
EMPTY = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntVb\ntR"
fixed(
    "copies by arrays of text",
    b"(" + MILLION + TYPE + (EMPTY + b"(K\x01J\x40\x42\x0f\x00\x85h\x02\x89h\x00tb") * 2000 + b"l.",
)
fixed(
    "copies of a dictionary",
    b"((" + b"".join(b"(V%d\nNl" % key for key in range(20_000)) + b"lq\x00ccollections\nOrderedDict\nq\x01"
    + b"h\x01h\x00\x85R" * 2000 + b"l.",
)  # fmt: skip
fixed("marks without end", b"(" * 600_000)
fixed("values made and thrown away", b"N0" * 300_000 + b".")
fixed("lists in lists", b"]" * 100_000 + b"a" * 99_999 + b".")
fixed("tuples in tuples", b")" + b"\x85" * 100_000 + b".")
fixed("a list within itself", b"]q\x00h\x00a.")
fixed("a dictionary within itself", b"}q\x00Vme\nh\x00s.")
fixed(
    "keys that collide",
    b"}(" + b"".join(b"\x8a\x0a%bN" % ((2**61 - 1) * n).to_bytes(10, "little") for n in range(20_000)) + b"u.",
)

# States

fixed("a state for a dictionary", b"}}V__class__\nVx\nsb.")
fixed("a state for an OrderedDict", b"ccollections\nOrderedDict\n)R}V__init__\nVx\nsb.")
fixed("a state for a list", b"]}V__class__\nVx\nsb.")
fixed("a state for a function", b"c_codecs\nencode\n}V__code__\nVx\nsb.")
fixed("a state for text", b"Vtext\n}b.")
fixed("a dictionary as an array's state", EMPTY + b"}V__class__\nVx\nsb.")
fixed("a short state", EMPTY + b"(K\x01tb.")
fixed("a shape that is no tuple", EMPTY + b"(K\x01K\x05" + TYPE + b"\x89U\x0512345tb.")
fixed("a negative shape", EMPTY + b"(K\x01J\xff\xff\xff\xff\x85" + TYPE + b"\x89U\x0512345tb.")
fixed("a shape beyond the content", EMPTY + b"(K\x01J\xff\xff\xff\x7f\x85" + TYPE + b"\x89U\x0512345tb.")
WIDE = b"\x8a\x05\x00\x00\x00\x00\x01"  # 2 to the 32nd
fixed("a shape that overflows", EMPTY + b"(K\x01" + WIDE + WIDE + b"\x86" + TYPE + b"\x89U\x00tb.")
fixed("an array of objects", pickle.dumps(np.array([{}, None], dtype=object)))
fixed("an array of text", pickle.dumps(np.array(["text"])))
fixed("an array of records", pickle.dumps(np.zeros(2, [("a", "i4")])))
fixed("a type of a hundred megabytes", b"cnumpy\ndtype\n(VV100000000\nI0\nI1\ntR.")
fixed("a type that is a list", b"cnumpy\ndtype\n(]I0\nI1\ntR.")
fixed("a type's state that is a number", EMPTY + b"(K\x01)" + TYPE + b"K\x01b\x89U\x011tb.")
fixed("content that is a list", EMPTY + b"(K\x01K\x01\x85" + TYPE + b"\x89]tb.")
fixed("a buffer of another length", b"cnumpy.core.numeric\n_frombuffer\n(U\x0512345" + TYPE + b"K\x09\x85VC\ntR.")

# Broken machinery

fixed("nothing", b"")
fixed("an end without a value", b".")
fixed("a tuple of too few", b"K\x01\x87.")
fixed("an end of a list that has no beginning", b"K\x01e.")
fixed("an item for a tuple", b")K\x01a.")
fixed("a key for a list", b"]K\x01K\x02s.")
fixed("a key without a value", b"}(Va\nu.")
fixed("a list as a key", b"}]K\x02s.")
fixed("a memory of nothing", b"h\x07.")
fixed("text without quotes", b"Stext\n.")
fixed("letters that are not UTF-8", b"X\x02\x00\x00\x00\xff\xfe.")
fixed("a state with nothing below", b"}b.")
fixed("a page of HTML", b"<html>404</html>")
