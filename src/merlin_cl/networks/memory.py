"""Freed memory kept by the process, for the next step to use again."""

import ctypes
import os
import sys
from functools import cache

KEPT_BYTES = 256 * 2**20
LARGEST_ON_HEAP = 32 * 2**20  # the most that glibc accepts
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # mallopt's names for its settings


@cache
def keep_freed_memory() -> bool:
    """Have the C library keep up to 256 MB that were freed; says whether it does.

    Each step of a convolutional bank allocates and frees tens of megabytes. By default glibc gives them back to the
    system and gets them again, page by page, at a cost of a tenth of the step. The setting is the whole process's; one
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
