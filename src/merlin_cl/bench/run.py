"""CPU seconds of one whole Split MNIST run, asked in every mode after every task, by phase."""

from merlin_cl.bench.measurement import Measurement, ProgressCallback, table
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.streams.registry import stream_settings


def measure(told: ProgressCallback) -> Measurement:
    """Learn the stream, answer in every mode after every task, and tell where the time went."""
    stream = stream_settings("split-mnist")().build(seed=0)
    settings = MerlinSettings.preset("default", stream.info)
    learner = settings.build(stream.info, seed=0)
    for index, task in enumerate(stream):
        told(index, len(stream))
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
    timings = table("phase", "CPU seconds")
    for phase, taken in seconds.items():
        timings.add_row(phase, f"{taken:.1f}")
    timings.add_row("all", f"{sum(seconds.values()):.1f}")
    return Measurement(
        "Split MNIST, one seed",
        f"B = {settings.base_models}, E = {settings.models}, {settings.fine_tune_epochs} epochs of fine-tuning after "
        "every task, all inference modes, one thread",
        f"a run of Split MNIST takes {sum(seconds.values()):.0f} CPU seconds",
        timings,
    )
