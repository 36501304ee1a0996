"""What `tools/reliability.py` tries, a file each.

A trial is a function `outcomes(start, stop, scratch)` that makes the tries numbered from `start` to `stop` and yields for each
what went wrong, or None. A try depends on its number alone, so that one that failed can be made again.
"""
