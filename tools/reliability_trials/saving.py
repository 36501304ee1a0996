"""Learners saved to one file by processes that are killed, and by two at once: whoever reads it finds a whole one."""

import random
import shutil
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from merlin_cl import ContinualClassifier
from reliability_trials.learners import clouds, taught
from reliability_trials.processes import PATIENCE, begun, ended

ROUND = 100
"""Tries of a round with two savers: as many reads as saves, a quarter by each saver."""


def killed(start: int, stop: int, scratch: Path) -> Iterator[str | None]:
    """One outcome for each saver that is killed."""
    answers = _saved(scratch)
    file = scratch / "saved" / "model.safetensors"
    file.parent.mkdir(exist_ok=True)
    for number in range(start, stop):
        shutil.copy(_place(scratch, 0), file)
        process, receiver = begun(_save_for_ever, scratch, file)
        receiver.recv()
        time.sleep(random.Random(f"kill in save {number}").uniform(0, 0.3))
        process.kill()
        process.join()
        yield _torn(file, answers) or _left_over(file)


def two_at_once(start: int, stop: int, scratch: Path) -> Iterator[str | None]:
    """One outcome for each save and each read, in rounds."""
    answers = _saved(scratch)
    file = scratch / "shared" / "model.safetensors"
    file.parent.mkdir(exist_ok=True)
    for _ in range(start, stop, ROUND):
        shutil.copy(_place(scratch, 0), file)
        savers = [begun(_save_so_often, scratch, file, which, ROUND // 4) for which in (0, 1)]
        for _, receiver in savers:
            receiver.recv()
        for _ in range(ROUND // 2):
            yield _torn(file, answers)
        for process, receiver in savers:
            for _ in range(ROUND // 4):
                yield receiver.recv() if receiver.poll(PATIENCE) else "the saver hangs"
            process.join(PATIENCE)
            if process.exitcode != 0:
                raise RuntimeError(f"A saver did not end: {ended(process)}.")


def _saved(scratch: Path) -> list[bytes]:
    """Save the learners that a file may hold, one or the other; gives what each answers."""
    models = [taught("merlin"), taught("er")]
    return [_answer(ContinualClassifier.load(model.save(_place(scratch, k)))) for k, model in enumerate(models)]


def _place(scratch: Path, which: int) -> Path:
    return scratch / f"learner-{which}.safetensors"


def _answer(model: ContinualClassifier) -> bytes:
    answer: bytes = model.predict_proba(clouds(0, 1, 2, 3, count=8)[0]).tobytes()
    return answer


def _torn(file: Path, answers: list[bytes]) -> str | None:
    """What is wrong with the file: its checksum is that of its content, and its answers are those of one of the learners."""
    try:
        answer = _answer(ContinualClassifier.load(file))
    except Exception as error:
        return f"reading: {type(error).__name__}: {error}"
    return None if answer in answers else "the file holds neither of the two learners"


def _left_over(file: Path) -> str | None:
    """What a killed saver leaves is gone after the next save."""
    ContinualClassifier.load(file).save(file)
    left = sorted(path.name for path in file.parent.iterdir() if path != file)
    return f"left behind: {left}" if left else None


def _save_for_ever(sender: Connection, scratch: Path, file: Path) -> None:
    models = [ContinualClassifier.load(_place(scratch, which)) for which in (0, 1)]
    sender.send("begun")
    while True:
        for model in models:
            model.save(file)


def _save_so_often(sender: Connection, scratch: Path, file: Path, which: int, count: int) -> None:
    model = ContinualClassifier.load(_place(scratch, which))
    sender.send("begun")
    for _ in range(count):
        try:
            model.save(file)
            sender.send(None)
        except Exception as error:
            sender.send(f"saving: {type(error).__name__}: {error}")
