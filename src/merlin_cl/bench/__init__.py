"""`merlin bench`: what the speed claims rest on. Single-threaded, everything compared within one run, ratios first."""

from merlin_cl.errors import unknown

PARTS = {
    "bank": "a bank of networks against a loop of separate ones, and against memory bandwidth",
    "latent": "a training step in the latent space against all weights, and against plain torch",
    "vae": "fitting the VAE of the paper's recipe, compiled against torch",
    "run": "CPU seconds of a whole Split MNIST run, by phase",
}


def main(parts: list[str]) -> None:
    """Run the named parts, or all of them, and print their tables."""
    if "-h" in parts or "--help" in parts:
        lines = [f"  {name:<8}{about}" for name, about in PARTS.items()]
        print(
            "\n".join(
                [
                    "usage: merlin bench [PART ...]",
                    "",
                    "Parts (all of them if none is named, about two minutes):",
                    *lines,
                ]
            )
        )
        return
    for part in parts:
        if part not in PARTS:
            raise unknown("benchmark", part, PARTS)
    import torch

    from merlin_cl.bench import bank, latent, run, vae

    torch.set_num_threads(1)
    measure = {"bank": bank.measure, "latent": latent.measure, "vae": vae.measure, "run": run.measure}
    for part in parts or PARTS:
        measure[part]()
