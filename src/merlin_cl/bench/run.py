"""CPU seconds of one whole Split MNIST run, asked in every mode after every task, by phase."""

from rich.console import Console
from rich.table import Table

from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.streams.registry import stream_settings


def measure() -> None:
    """Learn the stream, answer in every mode after every task, and print where the time went."""
    stream = stream_settings("split-mnist")().build(seed=0)
    settings = MerlinSettings.preset("default", stream.info)
    learner = settings.build(stream.info, seed=0)
    for index, task in enumerate(stream):
        learner.begin(task.info)
        for x, y in task.batches(10):
            learner.observe(x, y)
        learner.end()
        for earlier in range(index + 1):
            x, _ = stream[earlier].test()
            for inference in learner.inferences:
                with learner.phases.timed("infer and predict"):
                    learner.logits(x, task=earlier if inference == "aware" else None, inference=inference)
    seconds = learner.phases.cpu_seconds
    seconds["predict"] = seconds.pop("infer and predict") - seconds["infer"]
    table = Table("phase", "CPU seconds", box=None)
    for phase, taken in seconds.items():
        table.add_row(phase, f"{taken:.1f}")
    table.add_row("all", f"{sum(seconds.values()):.1f}")
    console = Console()
    console.print(
        f"[bold]Split MNIST, one seed[/bold] (B = {settings.base_models}, E = {settings.models}, "
        f"{settings.fine_tune_epochs} epochs of fine-tuning after every task, all inference modes, one thread)"
    )
    console.print(table)
