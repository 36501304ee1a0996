"""Examples to learn from, read from the files that `merlin learn` is given."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.features.cache import Raw
from merlin_cl.inputs.pictures import read_images
from merlin_cl.inputs.tables import read_table
from merlin_cl.learners.saving.input_files import fitted, require_images, table_inputs
from merlin_cl.learners.saving.saved import Inputs
from merlin_cl.streams.settings.user_data import FolderSettings, HuggingFaceSettings, TableSettings
from merlin_cl.streams.user_data.paths import settings_for


class Lessons(NamedTuple):
    """Examples to learn from, in the order in which the file has them."""

    x: Raw
    labels: Sequence[str]
    tasks: Sequence[str] | None
    """The task of each, where the file says."""


def read_lessons(path: Path, shape: tuple[int, ...], inputs: Inputs, label: str, task_column: str) -> Lessons:
    """All examples in a folder (class/image, or task/class/image), an .npz file (x, y, task) or a table, in its order."""
    settings = settings_for(path)()
    if isinstance(settings, HuggingFaceSettings):
        raise UsageError(
            f"{path} is a data set of Hugging Face's; save it as a table or as arrays to learn from it here."
        )
    if isinstance(settings, FolderSettings):
        require_images(path, shape, inputs)
        train = FolderSettings(image_size=1).read(path).train  # brought to the learner's own size here
        files = [Path(train.named(at)) for at in range(len(train))]
        x: Raw = read_images(files, inputs.form(shape).shape)
        return Lessons(x, train.labels, train.tasks)
    if isinstance(settings, TableSettings):
        table = read_table(path)
        names = [name for name in table.columns if name not in (label, task_column)]
        x = table_inputs(table, shape, inputs, names)
        return Lessons(x, table.names(label, "label"), table.names(task_column, "task") if task_column else None)
    train = settings.read(path).train
    given = train.inputs()
    x = fitted(given.numpy(), shape, inputs, str(path)) if isinstance(given, Tensor) else given
    return Lessons(x, train.labels, train.tasks)
