"""The rivals with settings small enough for the battery."""

from merlin_cl.learners import method_settings

NETWORK = {"hidden_units": (8,), "updates_per_batch": 2, "learning_rate": 5e-2}
REPLAY = {**NETWORK, "exemplars": 12, "replay": 4}

GENERATOR = {**NETWORK, "likelihood": "gaussian", "latent": 2, "generator_hidden": 8, "generator_rate": 2e-2}


def small(method, **settings):
    return method_settings(method)(**settings)


RIVALS = {
    "single by plain descent": small("single", **{**NETWORK, "learning_rate": 0.2}, optimiser="sgd"),
    "joint": small("joint", hidden_units=(8,), learning_rate=2e-2, epochs=5),
    "gdumb": small("gdumb", hidden_units=(8,), exemplars=12, fine_tune_rate=1e-2),
    "er": small("er", **REPLAY),
    "er-ace": small("er-ace", **REPLAY),
    "er-ema": small("er-ema", **REPLAY, averaging=0.8),
    "der": small("der", **REPLAY),
    "der++": small("der++", **REPLAY),
    "mir": small("mir", **REPLAY, candidates=8),
    "agem": small("agem", hidden_units=(8,), updates_per_batch=2, learning_rate=0.3, exemplars=12),
    "gem": small("gem", hidden_units=(8,), updates_per_batch=2, learning_rate=0.3, exemplars=12),
    "gss": small("gss", **REPLAY, compared=3),
    "gss integer": small("gss", **REPLAY, selection="integer", recent=4),
    "icarl": small("icarl", **REPLAY),
    "scr": small("scr", **REPLAY, projection=4),
    "pcr": small("pcr", **REPLAY),
    "mkd": small("mkd", **REPLAY, strength=1.0, teacher_rate=0.2),
    "mose": small("mose", **{**REPLAY, "hidden_units": (8, 8), "replay": 12}, expert_width=6, projection=4),
    "ewc": small("ewc", **NETWORK, exemplars=12),
    "ewc online": small("ewc", **NETWORK, exemplars=12, online=True, fisher="labels"),
    "lwf": small("lwf", **NETWORK),
    "hnet": small("hnet", **NETWORK, chunk=20, embedding=4, hidden=8),
    "slda": small("slda", width=10, shrinkage=1e-2),
    "slda learned": small("slda", **NETWORK, features="learned", exemplars=12, shrinkage=1e-2),
    "klda": small("klda", width=20),
    "klda learned": small("klda", **NETWORK, features="learned", exemplars=12, width=20),
    "ranpac": small("ranpac", width=20),
    "ranpac learned": small("ranpac", **NETWORK, features="learned", exemplars=12, width=20),
    "simplecil": small("simplecil"),
    "simplecil learned": small("simplecil", **NETWORK, features="learned", exemplars=12),
    "generative-replay": small("generative-replay", **GENERATOR, replay=4, generator_updates=2),
    "cn-dpm": small("cn-dpm", **GENERATOR, exemplars=12, experts=4, epochs=10),
}
