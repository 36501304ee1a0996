"""Freed memory kept by the process, for the next step to use again."""

import ctypes
import os
import sys
from functools import cache

KEPT_BYTES = 2**30
LARGEST_ON_HEAP = 32 * 2**20  # the most that glibc accepts
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # mallopt's names for its settings


@cache
def keep_freed_memory() -> bool:
    """Have the C library keep up to 1 GB that was freed; says whether it does.

    Each step of a convolutional bank allocates and frees tens of megabytes, hundreds where many networks see images of 84
    pixels. By default glibc gives them back to the system and gets them again, page by page, at a cost of a tenth to a
    third of the step (`benchmarks/kept_memory.py`). Never more is kept than was in use. The setting is the whole process's; one
    made by the user (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, GLIBC_TUNABLES) is left alone, as is any system
    without glibc.
    """
    chosen = any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ)
    if chosen or not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_MMAP_THRESHOLD, LARGEST_ON_HEAP) and mallopt(_TRIM_THRESHOLD, KEPT_BYTES))
