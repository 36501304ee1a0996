"""`merlin bench`: how fast this machine is at it, part by part, with the time left while it measures."""

from merlin_cl.errors import unknown
from merlin_cl.report.closing import PLAIN
from merlin_cl.report.text import console
from merlin_cl.runs.progress import clock_time, display

PARTS = {
    "bank": "a bank of networks against a loop of them, and memory bandwidth",
    "latent": "a training step in the latent space against all weights",
    "vae": "fitting the VAE of the paper's recipe, compiled against torch",
    "run": "CPU seconds of a whole Split MNIST run, by phase",
}
SECONDS = {"bank": 30, "latent": 25, "vae": 10, "run": 40}
"""About what each part takes, for the time left."""
STEPS = 1000
"""That the bar counts in."""


def main(parts: list[str]) -> None:
    """Run the named parts, or all of them; print their tables and what they mean."""
    if "-h" in parts or "--help" in parts:
        print(_help())
        return
    for part in parts:
        if part not in PARTS:
            raise unknown("benchmark", part, PARTS)
    names = parts or list(PARTS)
    words = [_measured(name, names[place:]) for place, name in enumerate(names)]
    console().print(f"In words: on this machine {'; '.join(words)}.", style=PLAIN)


def _measured(name: str, ahead: list[str]) -> str:
    """Measure a part, `ahead` of which are it and those that follow, and print its table; what it means comes back."""
    with display() as show:

        def told(done: int, total: int) -> None:
            gone = SECONDS[name] * done / total
            left = sum(SECONDS[each] for each in ahead) - gone
            show.update(f"{name}: measuring, about {clock_time(left)} left in all", round(STEPS * done / total), STEPS)

        told(0, 1)
        import torch

        from merlin_cl.bench import bank, latent, run, vae

        torch.set_num_threads(1)
        part = {"bank": bank.measure, "latent": latent.measure, "vae": vae.measure, "run": run.measure}[name](told)
    out = console()
    out.print(part.title, style="bold")
    out.print(part.about, style="dim")
    if part.table is not None:
        out.print(part.table)
    if part.note:
        out.print(part.note, style="dim")
    out.print()
    return part.words


def _help() -> str:
    lines = [f"  {name:<8}{about}" for name, about in PARTS.items()]
    about = "Parts (all of them if none is named, about two minutes):"
    return "\n".join(["usage: merlin bench [PART ...]", "", about, *lines])
