"""Tests stand where the source stands: whoever changes a module knows which tests to run and where to add one.

What `src/merlin_cl/runs/folder.py` promises is tested in `tests/runs/test_folder.py`; a package may have one file for all of its
modules (`tests/networks/test_planes.py`), settings are tested beside their method, and a doctest of its own will do. A module
that is a step of something larger, and is tested by what comes of it, is named below, under the file that tests it.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, TESTS = ROOT / "src" / "merlin_cl", ROOT / "tests"
MODULES = [
    path.relative_to(PACKAGE)
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name not in ("__init__.py", "__main__.py")
]

STEPS = {
    "checks/test_life_cycle.py": "checks/clouds checks/hard_cases learners/settings protocol",
    "cli/test_bad_input.py": "cli/options cli/resume",
    "cli/test_commands.py": "cli/listing cli/show",
    "cli/test_learn.py": "cli/lessons",
    "cli/test_model.py": "learners/saving/contents runs/model_file",
    "cli/test_own_data.py": "cli/run",
    "cli/test_predict.py": "learners/saving/input_files",
    "cli/test_prequential.py": "runs/prequential",
    "cli/test_screens.py": "bench/measurement cli/bench report/closing",
    "cli/test_words.py": "runs/description",
    "estimator/test_boundaries.py": "estimator/drift",
    "estimator/test_explaining.py": "learners/explanation",
    "estimator/test_export.py": "estimator/distillation estimator/modules estimator/onnx",
    "estimator/test_inputs.py": "inputs/encoding inputs/tables",
    "estimator/test_persistence.py": "learners/saving/header learners/saving/saved",
    "features/test_adapters.py": "features/image_backbones features/sentence_encoders",
    "features/test_extractor.py": "features/hashing features/kinds",
    "features/test_in_use.py": "streams/in_features",
    "integrations/test_avalanche.py": "integrations/avalanche_strategy",
    "learners/lookup/test_learner.py": "learners/lookup/settings",
    "learners/merlin/test_learner.py": "learners/ensemble_learner learners/ensemble_settings learners/merlin/base_models "
    "learners/merlin/inference learners/merlin/settings",
    "learners/merlin/test_task_vectors.py": "learners/merlin/task2vec learners/merlin/unseen",
    "learners/merlin_paper/test_compiled.py": "learners/merlin_paper/fitting learners/merlin_paper/distribution",
    "learners/merlin_paper/test_learner.py": "learners/merlin_paper/base_models learners/merlin_paper/consolidation "
    "learners/merlin_paper/inference",
    "learners/rivals/test_er.py": "learners/network_learner learners/rivals/er_ema_settings",
    "learners/rivals/test_generative_replay.py": "learners/rivals/input_generator learners/rivals/input_generator_settings",
    "learners/rivals/test_slda.py": "learners/rivals/frozen_features learners/rivals/frozen_features_settings",
    "learners/test_augmentation.py": "learners/compiled_augmentation",
    "learners/test_means.py": "learners/classifier_settings learners/network_settings",
    "networks/test_bank.py": "networks/mlp networks/network",
    "networks/test_heads.py": "networks/cosine networks/experts",
    "networks/test_module_bank.py": "networks/module_probe",
    "networks/test_planes.py": "networks/machine_code",
    "networks/test_resnet.py": "networks/convolution networks/normalisation networks/plain_resnet networks/statistics",
    "paper/test_cells.py": "report/reproduction report/reproduction_files",
    "paper/test_experiment.py": "paper/trials",
    "paper/test_samples.py": "report/reproduction_figures",
    "report/page/test_experiments.py": "report/page/series",
    "report/page/test_gallery.py": "report/page/checkpoint_reader",
    "report/page/test_render.py": "report/page/diagnosis report/page/overview",
    "report/page/test_sources.py": "report/page/events",
    "report/test_commands.py": "cli/report cli/watch",
    "report/test_ranking.py": "report/page/headline",
    "report/test_tables.py": "report/summary",
    "runs/engines/test_local.py": "runs/engines/choice",
    "runs/engines/test_store.py": "runs/engines/work",
    "runs/test_grid.py": "runs/engines/engine runs/grid_state runs/jobs",
    "runs/test_run.py": "runs/ledger",
    "runs/test_sinks.py": "runs/sinks_mlflow runs/sinks_tensorboard",
    "serving/test_app.py": "serving/answering serving/bodies serving/figures serving/limits serving/openapi serving/pages "
    "serving/service serving/teacher",
    "serving/test_killed.py": "serving/server",
    "streams/benchmarks/test_heterogeneous.py": "streams/datasets/facescrub streams/datasets/matlab streams/datasets/not_mnist "
    "streams/datasets/picture_files streams/datasets/svhn streams/datasets/traffic_signs streams/settings/heterogeneous",
    "streams/catalogue/test_download.py": "streams/catalogue/connection",
    "streams/catalogue/test_fetch.py": "streams/catalogue/entries streams/catalogue/entry streams/catalogue/verify "
    "streams/datasets/load",
    "streams/catalogue/test_unpack.py": "streams/catalogue/archives",
    "streams/datasets/test_pickled.py": "streams/datasets/unpickling",
    "streams/datasets/test_sound.py": "streams/datasets/audio_mnist",
    "streams/settings/test_split.py": "streams/benchmarks/sampling streams/benchmarks/split",
    "streams/test_word_vectors.py": "streams/descriptors",
    "streams/user_data/test_arrays.py": "streams/constructors streams/settings/user_data streams/user_data/building "
    "streams/user_data/examples",
    "tuning/test_search.py": "tuning/best tuning/objective tuning/plan tuning/trials",
}
"""By test file: the modules whose work it judges."""
STOPWATCHES = {"bench/bank", "bench/latent", "bench/run", "bench/vae"}
"""What they give is how long things take on this machine: no test may depend on that, and `merlin bench` shows it."""


def has_test(module: Path) -> bool:
    """Whether a module is tested where it says itself."""
    folder, text = TESTS / module.parent, (PACKAGE / module).read_text("utf-8")
    return (
        (folder / f"test_{module.name}").is_file()
        or (
            module.stem.endswith("_settings")
            and (folder / f"test_{module.stem.removesuffix('_settings')}.py").is_file()
        )
        or (len(module.parts) > 1 and (folder.parent / f"test_{module.parent.name}.py").is_file())
        or ">>> " in text
        or "def " not in text  # declares, and does nothing
    )


UNTESTED = {str(module.with_suffix("")) for module in MODULES if not has_test(module)}


def test_every_module_has_its_tests():
    named = STOPWATCHES | {module for modules in STEPS.values() for module in modules.split()}
    assert sorted(UNTESTED - named) == [], "add tests/.../test_NAME.py, or a doctest"


@pytest.mark.parametrize("tests", STEPS)
def test_what_is_named_has_no_tests_elsewhere(tests):
    assert (TESTS / tests).is_file()
    assert sorted(set(STEPS[tests].split()) - UNTESTED) == [], "it has a file of its own now"
