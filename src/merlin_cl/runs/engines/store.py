"""Run folders kept at a URL that fsspec knows (s3://, gs://, ssh://, file://), for workers that share no folder.

A worker runs in a scratch folder of its own and mirrors it after every checkpoint; whoever goes on with the run fetches it.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.jobs import Job, identity

MIRRORED = ("checkpoint", "finished", "failed")
"""Events after which the store is brought up to date."""


class Store:
    """Run folders at a URL."""

    def __init__(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise UsageError("--store needs the package fsspec; `pip install 'merlin-cl[ray]'` installs it.") from None
        try:
            self.files, self.path = url_to_fs(url, use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise UsageError(f"The store {url} cannot be used: {str(error).rstrip('.')}.") from None

    def find(self, job: Job) -> str | None:
        """The name of a run's folder, None where there is none yet."""
        for path in self.files.glob(f"{self.path}/{job.stem}*/config.json"):
            try:
                config = RunConfig.from_record(json.loads(self.files.cat_file(path)))
            except (MerlinError, ValueError, KeyError, TypeError):
                continue  # damaged, or of another version
            if identity(config) == job.identity:
                return PurePosixPath(path).parent.name
        return None

    def fetch(self, job: Job, root: Path, *, checkpoints: bool) -> None:
        """Bring a run's folder below `root`, if there is one; its result comes last, as it says that all is there."""
        name = self.find(job)
        if name is None:
            return
        names = [PurePosixPath(path).relative_to(PurePosixPath(self.path) / name) for path in self._all(name)]
        for part in sorted(names, key=lambda part: (part.name == "result.json", part)):
            if part.suffix != ".part" and (checkpoints or part.parts[0] != "checkpoint"):
                target = root / name / part
                target.parent.mkdir(parents=True, exist_ok=True)
                self.files.get_file(f"{self.path}/{name}/{part}", str(target))

    def fetch_finished(self, job: Job, root: Path) -> None:
        """Bring a run's folder without its checkpoints, once it is finished."""
        name = self.find(job)
        if name is not None and self.files.exists(f"{self.path}/{name}/result.json"):
            self.fetch(job, root, checkpoints=False)

    def tasks_done(self, job: Job) -> int:
        """How many tasks of a run are safe in its newest checkpoint."""
        name = self.find(job)
        paths = [] if name is None else self._all(f"{name}/checkpoint")
        stems = (PurePosixPath(path).stem for path in paths if path.endswith(".safetensors"))
        return max((int(stem.removeprefix("task-")) for stem in stems), default=0)

    def mirror(self, folder: RunFolder, event: dict[str, Any]) -> None:
        """Bring the store up to date (this is a listener of a run)."""
        if event["event"] not in MIRRORED:
            return
        target = f"{self.path}/{folder.path.name}"
        wanted = [path for path in folder.path.rglob("*") if path.is_file() and _is_kept(path)]
        for path in sorted(wanted, key=lambda path: (path.name == "result.json", path)):
            self._put(path, f"{target}/{path.relative_to(folder.path).as_posix()}")
        here = {path.name for path in wanted}
        for old in self._all(f"{folder.path.name}/checkpoint"):
            if PurePosixPath(old).name not in here:
                self.files.rm_file(old)

    def _put(self, path: Path, target: str) -> None:
        """Under another name first: a worker lost in the middle must leave no half a file under this one."""
        self.files.makedirs(str(PurePosixPath(target).parent), exist_ok=True)
        self.files.put_file(str(path), f"{target}.part")
        self.files.mv(f"{target}.part", target)

    def _all(self, below: str) -> list[str]:
        folder = f"{self.path}/{below}"
        return list(self.files.find(folder)) if self.files.exists(folder) else []


def _is_kept(path: Path) -> bool:
    return path.name != "lock" and not path.name.endswith(".part")
