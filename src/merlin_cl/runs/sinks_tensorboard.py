"""Events as TensorBoard scalars, in `tensorboard/` inside the run folder: `tensorboard --logdir runs` shows all runs."""

import json
from typing import Any

from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.sinks import Event, scalars, seconds

FOLDER = "tensorboard"


class TensorBoardSink:
    """Writes event files anew each time it is made: as it is given all events, none is there twice."""

    def __init__(self, folder: RunFolder) -> None:
        from torch.utils.tensorboard import SummaryWriter  # here, as the package is optional

        place = folder.path / FOLDER
        for old in place.glob("events.out.tfevents.*"):
            old.unlink()
        self._writer: Any = SummaryWriter(str(place))
        self._writer.add_text("settings", f"```\n{json.dumps(folder.config_record(), indent=1)}\n```")

    def take(self, event: Event) -> None:
        """Write the event's numbers, at the time at which it was written."""
        for scalar in scalars(event):
            self._writer.add_scalar(scalar.name, scalar.value, scalar.step, walltime=seconds(event))
        self._writer.flush()

    def close(self) -> None:
        """Close the files."""
        self._writer.close()
