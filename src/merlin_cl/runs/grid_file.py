"""A grid as a TOML file: streams x methods x settings x seeds, expanded to the runs it stands for. Free of torch.

    streams = ["split-mnist", {name = "permuted-mnist", tasks = [5, 10]}]
    methods = ["single", {name = "merlin", models = [1, 30]}]
    seeds = 5

    [run]
    inference = "all"

A list stands for one run with each of its values. `[settings]` holds settings for all methods that have them; `[run]` what
`merlin run` has as options beside those of stream and method.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from merlin_cl.errors import MerlinError, UsageError, unknown
from merlin_cl.learners.registry import method_settings, preset_kind
from merlin_cl.learners.setting_values import fitting, hints_of
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.parse_settings import changed, combinations
from merlin_cl.streams.registry import stream_names, stream_settings
from merlin_cl.streams.settings import StreamSettings
from merlin_cl.streams.user_data.paths import looks_like_a_path, settings_for

TABLES = ("streams", "methods", "seeds", "settings", "run", "retries")
RUN_HINTS: dict[str, Any] = {"batch_size": int, "inference": str, "device": str, "threads": int, "data": str}
RETRIES = 2
"""How often a run that failed is tried again, unless the file says otherwise."""


@dataclass(frozen=True)
class GridFile:
    """What a grid file says."""

    configs: list[RunConfig]
    retries: int


@dataclass(frozen=True)
class _Named:
    """An entry of `streams` or `methods`: a name and values for some settings."""

    place: str
    name: str
    values: dict[str, Any]


def read_grid(path: Path) -> GridFile:
    """The runs that a file stands for, all of it checked: the first thing that is wrong is refused, naming its place."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); give the path of a grid file.") from None
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {str(error).rstrip('.')}.") from None
    with _at(str(path)):
        return parse_grid(table, path.parent)


def parse_grid(table: dict[str, Any], folder: Path) -> GridFile:
    """The runs that the content of a grid file stands for; paths of data are taken from `folder`."""
    for name in table:
        if name not in TABLES:
            raise unknown("key", name, TABLES)
    retries = fitting("retries", table.get("retries", RETRIES), int)
    if retries < 0:
        raise UsageError(f"retries is {retries}; it must be at least 0.")
    seeds, shared = _seeds(table.get("seeds", 1)), _table(table, "settings")
    with _at("run"):
        options = {name: _option(name, value) for name, value in _table(table, "run").items()}
    data = options.pop("data", None)
    methods = _named(table, "methods")
    _require_known(shared, methods)
    configs = []
    for entry in _named(table, "streams"):
        for stream, place in _streams(entry, folder, data):
            info = stream.learner_info(place)
            for preset, method in (pair for entry in methods for pair in _methods(entry, shared, info)):
                with _at("run"):
                    configs.append(RunConfig(stream, method.located(), preset=preset, data=place, **options))
    # Seed by seed, so that a grid that is still at work has something of everything to show.
    runs = [replace(config, seed=seed) for seed in seeds for config in configs]
    return GridFile(list({f"{config.digest} {config.data}": config for config in runs}.values()), retries)


def _streams(entry: _Named, folder: Path, data: str | None) -> list[tuple[StreamSettings, str | None]]:
    """The settings that an entry of `streams` stands for, and where their data are if that is said."""
    with _at(entry.place):
        own = entry.name not in stream_names() and looks_like_a_path(entry.name)
        path = entry.name if own else data
        place = None if path is None else str((folder / Path(path).expanduser()).resolve())
        kind = settings_for(Path(place)) if own and place is not None else stream_settings(entry.name)
        return [(changed(kind(), values), place) for values in combinations(entry.values, hints_of(kind), kind.stream)]


def _methods(entry: _Named, shared: dict[str, Any], info: StreamInfo) -> list[tuple[str, MethodSettings]]:
    """The presets and settings that an entry of `methods` stands for on a stream; of shared settings, those that it has."""
    with _at(entry.place):
        values = dict(entry.values)
        presets = values.pop("preset", shared.get("preset", "default"))
        settings = []
        for named in combinations({"preset": presets}, {"preset": str}, entry.name):
            kind, preset = preset_kind(entry.name, fitting("preset", named["preset"], str))
            hints = hints_of(kind)
            own = {name: value for name, value in shared.items() if name in hints} | values
            for chosen in combinations(own, hints, kind.method):
                settings.append((preset, changed(kind.preset(preset, info), chosen)))
        return settings


def _require_known(shared: dict[str, Any], methods: list[_Named]) -> None:
    """Refuse a shared setting that no method of the file has."""
    known = {"preset"}
    for entry in methods:
        with _at(entry.place):
            kind = method_settings(entry.name)
            for one in (kind, *map(method_settings, kind.moved_presets.values())):
                known |= set(hints_of(one))
    with _at("settings"):
        for name in shared:
            if name not in known:
                raise unknown("setting of the methods listed", name, sorted(known))


def _named(table: dict[str, Any], key: str) -> list[_Named]:
    """The entries of `streams` or `methods`, each a name or a table with a name in it."""
    entries = table.get(key)
    if not isinstance(entries, list) or not entries:
        raise UsageError(f'{key} is missing; list at least one, as in {key} = ["{_EXAMPLES[key]}"].')
    named = []
    for number, entry in enumerate(entries, start=1):
        values = {"name": entry} if isinstance(entry, str) else entry
        if not isinstance(values, dict) or not isinstance(values.get("name"), str):
            raise UsageError(f"{key}, entry {number}: it must be a name, or a table that has one.")
        rest = {name: value for name, value in values.items() if name != "name"}
        named.append(_Named(f"{key}, entry {number} ({values['name']})", values["name"], rest))
    return named


_EXAMPLES = {"streams": "split-mnist", "methods": "merlin"}


def _seeds(value: Any) -> list[int]:
    """A number of seeds stands for 0, 1, ...; a list for itself."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return list(range(value))
    numbers = value if isinstance(value, list) else []
    if not numbers or not all(isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 for seed in numbers):
        raise UsageError(f"seeds is {value!r}; give how many, as in seeds = 5, or a list of whole numbers from 0 on.")
    return list(dict.fromkeys(numbers))


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    value = table.get(name, {})
    if not isinstance(value, dict):
        raise UsageError(f"{name} is {value!r}; it must be a table, as in [{name}].")
    return value


def _option(name: str, value: Any) -> Any:
    if name not in RUN_HINTS:
        raise unknown("option of a run", name, RUN_HINTS)
    return fitting(name, value, RUN_HINTS[name])


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Name the place in errors."""
    try:
        yield
    except MerlinError as error:
        raise UsageError(f"{place}: {error}") from None
