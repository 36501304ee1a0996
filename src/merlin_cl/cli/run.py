"""`merlin run`: learn a stream with a method. The options are the settings of that stream and that method."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, make_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import tyro

from merlin_cl.cli.options import Flag, option_names, parse, renamed
from merlin_cl.cli.short_help import HELP, HELP_ALL, short_help
from merlin_cl.commands import merlin
from merlin_cl.errors import UsageError
from merlin_cl.learners.registry import method_names, preset_kind
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.sinks import SinkName, relays
from merlin_cl.streams.registry import stream_names, stream_settings
from merlin_cl.streams.settings import StreamSettings
from merlin_cl.streams.user_data.paths import kind_of, looks_like_a_path, settings_for

DEFAULT_STREAM, DEFAULT_METHOD, DEFAULT_PRESET = "split-mnist", "merlin", "default"


@dataclass(frozen=True)
class RunOptions:
    """What to run, how, and where to."""

    stream: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[STREAM]")] = DEFAULT_STREAM
    """The stream to learn, or a path of your own data: a folder of images, a .csv, .parquet or .npz file."""
    method: Annotated[str, tyro.conf.arg(metavar="NAME")] = DEFAULT_METHOD
    """The method that learns it."""
    preset: Annotated[str, tyro.conf.arg(metavar="NAME")] = DEFAULT_PRESET
    """Where the method's settings start from; the options below change single ones."""
    seed: int = 0
    """What data, their order and weights are drawn from."""
    out: Path = Path("runs")
    """The folder that holds run folders."""
    inference: Annotated[str, tyro.conf.arg(metavar="MODE")] = "all"
    """How the learner answers: aggregate, aware, marginal, or all that the method has."""
    batch_size: int = 10
    """Examples that arrive together."""
    device: Annotated[str, tyro.conf.arg(metavar="NAME")] = "cpu"
    """Where to compute: cpu, cuda, cuda:1, mps."""
    threads: int = 1
    """CPU threads."""
    data: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """A folder with data sets; without it the usual places, then what the package brings along."""
    sink: tuple[SinkName, ...] = ()
    """Where events go, too: tensorboard, mlflow, or both."""
    restart: Flag = False
    """Compute again, even if the run is finished."""
    prequential: Flag = False
    """Ask about each batch before it is learned; print how that went, and write no folder."""
    window: int = 200
    """With --prequential: examples that figures of late are of."""
    json: Flag = False
    """Print the result as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    if any(word in argv for word in HELP):
        print(_short_help(argv))
        return
    options, config = configured(["--help" if word == HELP_ALL else word for word in argv])
    if options.prequential:
        from merlin_cl.cli.prequential import run_prequential

        run_prequential(config, options.window, options.json)
        return
    folder = compute(config, options.out, restart=options.restart, sinks=options.sink)
    tell(folder, as_json=options.json)


def configured(argv: list[str]) -> tuple[RunOptions, RunConfig]:
    """Options and configuration from a command line, whose parser depends on the stream and the method it names."""
    named = _named_on(argv)
    path = _own_data(named.stream)
    own_kind = (
        kind_of if any(word in argv for word in HELP) else settings_for
    )  # for help the data need not be there yet
    stream = (stream_settings(named.stream) if path is None else own_kind(path))()
    (method_kind, preset), known, looked_at = preset_kind(named.method, named.preset), stream.outline(), None
    while True:
        parsed = _parse(argv, named, stream, method_kind.preset(preset, known))
        if parsed.stream_settings == looked_at:
            break
        looked_at = parsed.stream_settings
        info = looked_at.learner_info(path)
        if info == known:
            break
        stream, known = looked_at, info  # a preset may depend on the stream: read again with what is known of it
    options: RunOptions = parsed.options
    if options.stream != named.stream:
        raise UsageError(
            f"{options.stream!r} is out of place; the stream comes first, as in `{merlin('run', named.stream)}`."
        )
    if path is not None and options.data is not None:
        raise UsageError(f"{named.stream} are the data; --data is for streams that are named.")
    data = path or options.data
    config = RunConfig(
        stream=parsed.stream_settings,
        method=parsed.method_settings.located(),
        preset=preset,
        data=None if data is None else str(data.expanduser().resolve()),
        **{name: getattr(options, name) for name in ("seed", "batch_size", "inference", "device", "threads")},
    )
    return options, config


def _named_on(argv: list[str]) -> RunOptions:
    """What has to be known before there is a parser; the stream is taken off the command line."""
    return RunOptions(
        stream=argv.pop(0) if argv and not argv[0].startswith("-") else DEFAULT_STREAM,
        method=_named("--method", argv, DEFAULT_METHOD),
        preset=_named("--preset", argv, DEFAULT_PRESET),
    )


def _short_help(argv: list[str]) -> str:
    """One screen, with the values that the stream and the method named would have; the data need not be there yet."""
    named = _named_on(argv)
    path = _own_data(named.stream)
    kind = stream_settings(named.stream) if path is None else kind_of(path)
    method_kind, preset = preset_kind(named.method, named.preset)
    method = method_kind.preset(preset, kind().outline())
    words = [word for word in (named.stream, f"--method {method.method}") if word != f"--method {DEFAULT_METHOD}"]
    streams = f"Streams: {', '.join(stream_names())}, or a path of your own data. " if path is None else ""
    return short_help(
        f"merlin run {' '.join(words)} [OPTIONS]",
        f"Learn a stream with a method, each example once, into a run folder. {streams}Methods: {', '.join(method_names())}.",
        [
            ("run", named, ("stream", "window")),
            (kind.stream, kind(), ("split_seed", "missing")),
            (f"{method.method} (presets: {', '.join(method.presets())})", method, ()),
        ],
        "Shown are the values that options have if nothing else is said. "
        f"What can be chosen, and more of each: merlin run {' '.join(words)} {HELP_ALL}",
    )


def compute(config: RunConfig, root: Path, *, restart: bool = False, sinks: Sequence[SinkName] = ()) -> RunFolder:
    """Run a configuration with progress on standard error."""
    from merlin_cl.runs.progress import display

    name = config.stream.title(config.data)
    print(f"{config.method.method} on {name}, seed {config.seed}", file=sys.stderr, flush=True)
    with display() as show:
        show.update("reading the data", 0, 1)
        from merlin_cl.runs.run import run  # with torch, which takes a moment

        return run(config, root, show, restart=restart, listeners=relays(sinks, show.say))


def tell(folder: RunFolder, *, as_json: bool) -> None:
    """The result on standard output; on standard error where it is and what to type next."""
    from merlin_cl.report.closing import print_closing
    from merlin_cl.report.summary import summarise
    from merlin_cl.report.tables import print_scores
    from merlin_cl.report.text import console, say, say_next

    result = folder.result()
    if as_json:
        print(json.dumps({"folder": str(folder.path), **result}))
    else:
        rows, out = summarise([result]), console()
        print_scores(out, rows)
        out.print()
        print_closing(out, rows)
    say(f"Written to {folder.path}")
    say_next(merlin("show", folder.path), merlin("diagnose", folder.path))


def _parse(argv: list[str], named: RunOptions, stream: StreamSettings, method: MethodSettings) -> Any:
    def part(name: str, kind: type, title: str, default: Any) -> tuple[str, Any, Any]:
        return name, Annotated[kind, tyro.conf.arg(name=title)], default

    shared = sorted({field.name for field in fields(stream)} & {field.name for field in fields(method)})
    offered = renamed(method, {name: f"method-{name}" for name in shared})
    command = make_dataclass(
        "Command",
        [
            part("options", RunOptions, "run", named),
            part("stream_settings", type(stream), stream.stream, stream),
            part("method_settings", type(offered), method.method, offered),
        ],
        frozen=True,
    )
    about = (
        "Learn a stream with a method, each example once, into a run folder. The options are those of the stream and the "
        f"method named.\nStreams: {', '.join(stream_names())}, or a path of your own data. Methods: {', '.join(method_names())}. "
        f"Presets of {method.method}: {', '.join(method.presets())}."
    )
    meant = [_of_method(argv, at, method, shared) for at in range(len(argv))]
    parsed = parse(command, meant, "run", about, option_names(RunOptions, stream, method))
    given = {field.name: getattr(parsed.method_settings, field.name) for field in fields(method)}
    return replace(parsed, method_settings=replace(method, **given))


def _of_method(argv: list[str], at: int, method: MethodSettings, shared: Sequence[str]) -> str:
    """A word of the command line. An option that the stream has, too, is the method's own if only the method has the value, and
    is `--method-NAME` in any case: `--features learned` is of slda, `--features minilm` of the stream."""
    option, equals, value = argv[at].partition("=")
    name = option.removeprefix("--").replace("-", "_")
    if not option.startswith("--") or name not in shared:
        return argv[at]
    value = value if equals else "".join(argv[at + 1 : at + 2])
    own = value in get_args(get_type_hints(type(method))[name])
    return f"--method-{option[2:]}{argv[at][len(option) :]}" if own else argv[at]


def _own_data(name: str) -> Path | None:
    """The path of a user's own data, None for the name of a stream."""
    return Path(name).expanduser() if name not in stream_names() and looks_like_a_path(name) else None


def _named(option: str, argv: list[str], default: str) -> str:
    """The value of an option, read before there is a parser."""
    for place, argument in enumerate(argv):
        if argument == option and place + 1 < len(argv):
            default = argv[place + 1]
        elif argument.startswith(f"{option}="):
            default = argument.partition("=")[2]
    return default
