"""The engine that a name stands for."""

from pathlib import Path

from merlin_cl.runs.engines.engine import Engine


def engine_for(name: str, root: Path, threads: int, workers: int | None, address: str, store: str) -> Engine:
    """An engine that writes below `root`, for runs of so many threads."""
    if name == "ray":
        from merlin_cl.runs.engines.ray import RayEngine

        return RayEngine(root, threads, address, store)
    from merlin_cl.runs.engines.local import LocalEngine

    return LocalEngine(root, threads, workers)
