"""The heterogeneous stream of HAT: every task is a data set of its own, brought to one shape of image.

As in the other streams each task draws so many training images; HAT itself takes all there are. All images are resized to one
size, where HAT pads the small ones.
"""

from pathlib import Path

from merlin_cl.errors import InputError
from merlin_cl.protocol import TaskInfo
from merlin_cl.streams.benchmarks.sampling import TaskPlan, drawn_stream
from merlin_cl.streams.catalogue import entry
from merlin_cl.streams.data_dirs import searched
from merlin_cl.streams.datasets import is_present, open_data_set
from merlin_cl.streams.settings import HeterogeneousSettings
from merlin_cl.streams.stream import Stream


def build(settings: HeterogeneousSettings, seed: int, data: str | Path | None = None) -> Stream:
    """The stream that a seed gives."""
    _require_all(settings, data)
    plans: list[TaskPlan] = []
    class_names: list[str] = []
    for index, source in enumerate([open_data_set(name, data) for name in settings.datasets]):
        first = len(class_names)
        places = {label: first + label for label in range(len(source.classes))}
        plans.append(TaskPlan(TaskInfo(index, tuple(places.values()), source.title), source, places))
        class_names += [f"{source.title}: {name}" for name in source.classes]
    return drawn_stream(settings, seed, plans, class_names, data)


def _require_all(settings: HeterogeneousSettings, data: str | Path | None) -> None:
    """Refuse a stream of which data sets are missing, naming all of them and what can be learned without them."""
    lacking = [name for name in settings.datasets if not is_present(name, data)]
    if lacking:
        rest = [name for name in settings.datasets if name not in lacking]
        raise InputError(
            f"There is no {', '.join(entry(name).title for name in lacking)} in {' or '.join(map(str, searched(data)))}; "
            f"`merlin data get {lacking[0]}` gets it or says how"
            + (f", or name the data sets that you have: --datasets {' '.join(rest)}." if rest else ".")
        )
