"""The rivals with settings small enough for the battery."""

from merlin_cl.learners import contrast_settings as contrast
from merlin_cl.learners import frozen_settings as frozen
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
    "pcr": contrast.PCRSettings(**REPLAY),
    "mkd": contrast.MKDSettings(**REPLAY, strength=1.0, teacher_rate=0.2),
    "mose": contrast.MOSESettings(**{**REPLAY, "hidden_units": (8, 8), "replay": 12}, expert_width=6, projection=4),
    "ewc": regularised.EWCSettings(**NETWORK, exemplars=12),
    "ewc online": regularised.EWCSettings(**NETWORK, exemplars=12, online=True, fisher="labels"),
    "lwf": regularised.LwFSettings(**NETWORK),
    "hnet": regularised.HNETSettings(**NETWORK, chunk=20, embedding=4, hidden=8),
    "slda": frozen.SLDASettings(width=10, shrinkage=1e-2),
    "slda learned": frozen.SLDASettings(**NETWORK, features="learned", exemplars=12, shrinkage=1e-2),
    "klda": frozen.KLDASettings(width=20),
    "klda learned": frozen.KLDASettings(**NETWORK, features="learned", exemplars=12, width=20),
    "ranpac": frozen.RanPACSettings(width=20),
    "ranpac learned": frozen.RanPACSettings(**NETWORK, features="learned", exemplars=12, width=20),
    "simplecil": frozen.SimpleCILSettings(),
    "simplecil learned": frozen.SimpleCILSettings(**NETWORK, features="learned", exemplars=12),
    "generative-replay": generative.GenerativeReplaySettings(**GENERATOR, replay=4, generator_updates=2),
    "cn-dpm": generative.CNDPMSettings(**GENERATOR, exemplars=12, experts=4, epochs=10),
}
