"""Which methods there are: ours, and those other packages add through the entry point group `merlin_cl.methods`.

An entry point names a settings class (see `MethodSettings`); nothing here imports torch.
"""

import importlib

from merlin_cl.errors import unknown
from merlin_cl.installed import entry_points
from merlin_cl.learners.settings import MethodSettings

BUILT_IN = {
    "merlin": "merlin_cl.learners.merlin.settings:MerlinSettings",
    "merlin-paper": "merlin_cl.learners.merlin_paper.settings:MerlinPaperSettings",
    "lookup": "merlin_cl.learners.lookup.settings:LookupSettings",
    "gdumb-ensemble": "merlin_cl.learners.rivals.gdumb_settings:GDumbEnsembleSettings",
    "gdumb": "merlin_cl.learners.rivals.gdumb_settings:GDumbSettings",
    "single": "merlin_cl.learners.rivals.single_settings:SingleSettings",
    "joint": "merlin_cl.learners.rivals.joint_settings:JointSettings",
    "er": "merlin_cl.learners.rivals.er_settings:ERSettings",
    "er-ace": "merlin_cl.learners.rivals.er_ace_settings:ERACESettings",
    "er-ema": "merlin_cl.learners.rivals.er_ema_settings:EREMASettings",
    "der": "merlin_cl.learners.rivals.der_settings:DERSettings",
    "der++": "merlin_cl.learners.rivals.der_settings:DERPlusPlusSettings",
    "mir": "merlin_cl.learners.rivals.mir_settings:MIRSettings",
    "agem": "merlin_cl.learners.rivals.agem_settings:AGEMSettings",
    "gem": "merlin_cl.learners.rivals.gem_settings:GEMSettings",
    "gss": "merlin_cl.learners.rivals.gss_settings:GSSSettings",
    "icarl": "merlin_cl.learners.rivals.icarl_settings:ICaRLSettings",
    "scr": "merlin_cl.learners.rivals.scr_settings:SCRSettings",
    "pcr": "merlin_cl.learners.rivals.pcr_settings:PCRSettings",
    "mkd": "merlin_cl.learners.rivals.mkd_settings:MKDSettings",
    "mose": "merlin_cl.learners.rivals.mose_settings:MOSESettings",
    "ewc": "merlin_cl.learners.rivals.ewc_settings:EWCSettings",
    "lwf": "merlin_cl.learners.rivals.lwf_settings:LwFSettings",
    "hnet": "merlin_cl.learners.rivals.hnet_settings:HNETSettings",
    "slda": "merlin_cl.learners.rivals.slda_settings:SLDASettings",
    "klda": "merlin_cl.learners.rivals.klda_settings:KLDASettings",
    "ranpac": "merlin_cl.learners.rivals.ranpac_settings:RanPACSettings",
    "simplecil": "merlin_cl.learners.rivals.simplecil_settings:SimpleCILSettings",
    "generative-replay": "merlin_cl.learners.rivals.generative_replay_settings:GenerativeReplaySettings",
    "cn-dpm": "merlin_cl.learners.rivals.cn_dpm_settings:CNDPMSettings",
}


def method_names() -> list[str]:
    """Every method that can be named, ours first."""
    return [*BUILT_IN, *sorted(point.name for point in entry_points(group="merlin_cl.methods"))]


def method_settings(name: str) -> type[MethodSettings]:
    """The settings class of a method.

    >>> method_settings("single").__name__
    'SingleSettings'
    """
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        settings: type[MethodSettings] = getattr(importlib.import_module(module), attribute)
        return settings
    for point in entry_points(group="merlin_cl.methods", name=name):
        loaded: type[MethodSettings] = point.load()
        return loaded
    raise unknown("method", name, method_names())


def preset_kind(method: str, preset: str) -> tuple[type[MethodSettings], str]:
    """The settings class that a preset of a method starts from, and what the preset is called there: it may be another method.

    >>> kind, preset = preset_kind("merlin", "paper")
    >>> kind.method, preset
    ('merlin-paper', 'default')
    """
    kind = method_settings(method)
    return (method_settings(kind.moved_presets[preset]), "default") if preset in kind.moved_presets else (kind, preset)
