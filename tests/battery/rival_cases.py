"""The rivals with settings small enough for the battery."""

from merlin_cl.learners import generative_settings as generative
from merlin_cl.learners import regularised_settings as regularised
from merlin_cl.learners import rival_settings as rivals
from merlin_cl.learners.control_settings import GDumbSettings, JointSettings, SingleSettings

NETWORK = {"hidden_units": (8,), "updates_per_batch": 2, "learning_rate": 5e-2}
REPLAY = {**NETWORK, "exemplars": 12, "replay": 4}

GENERATOR = {**NETWORK, "likelihood": "gaussian", "latent": 2, "generator_hidden": 8, "generator_rate": 2e-2}

RIVALS = {
    "single by plain descent": SingleSettings(**{**NETWORK, "learning_rate": 0.2}, optimiser="sgd"),
    "joint": JointSettings(hidden_units=(8,), learning_rate=2e-2, epochs=5),
    "gdumb": GDumbSettings(hidden_units=(8,), exemplars=12, fine_tune_rate=1e-2),
    "er": rivals.ERSettings(**REPLAY),
    "er-ace": rivals.ERACESettings(**REPLAY),
    "er-ema": rivals.EREMASettings(**REPLAY, averaging=0.8),
    "der": rivals.DERSettings(**REPLAY),
    "der++": rivals.DERPlusPlusSettings(**REPLAY),
    "mir": rivals.MIRSettings(**REPLAY, candidates=8),
    "agem": rivals.AGEMSettings(hidden_units=(8,), updates_per_batch=2, learning_rate=0.3, exemplars=12),
    "gem": rivals.GEMSettings(hidden_units=(8,), updates_per_batch=2, learning_rate=0.3, exemplars=12),
    "gss": rivals.GSSSettings(**REPLAY, compared=3),
    "gss integer": rivals.GSSSettings(**REPLAY, selection="integer", recent=4),
    "icarl": rivals.ICaRLSettings(**REPLAY),
    "scr": rivals.SCRSettings(**REPLAY, projection=4),
    "ewc": regularised.EWCSettings(**NETWORK, exemplars=12),
    "ewc online": regularised.EWCSettings(**NETWORK, exemplars=12, online=True, fisher="labels"),
    "lwf": regularised.LwFSettings(**NETWORK),
    "hnet": regularised.HNETSettings(**NETWORK, chunk=20, embedding=4, hidden=8),
    "slda": generative.SLDASettings(width=10, shrinkage=1e-2),
    "slda learned": generative.SLDASettings(**NETWORK, features="learned", exemplars=12, shrinkage=1e-2),
    "generative-replay": generative.GenerativeReplaySettings(**GENERATOR, replay=4, generator_updates=2),
    "cn-dpm": generative.CNDPMSettings(**GENERATOR, exemplars=12, experts=4, epochs=10),
}
