"""Settings of `small-digits`: what is known of the stream before it is built. Free of torch, so that help answers at once."""

from dataclasses import dataclass
from pathlib import Path

from merlin_cl import StreamInfo
from merlin_cl.streams import StreamSettings


@dataclass(frozen=True)
class SmallDigitsSettings(StreamSettings):
    """Scikit-learn's 1,797 digits of 8 x 8 pixels, a few new ones a task."""

    stream = "small-digits"
    builder = "small_digits.build:small_digits"

    tasks: int = 5
    """Tasks that the ten digits are divided into."""

    def info(self, data: str | Path | None = None) -> StreamInfo:
        """What a learner may know before the first task."""
        return StreamInfo("small-digits", input_shape=(64,), classes=10, tasks=self.tasks)
