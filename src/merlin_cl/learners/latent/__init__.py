"""MERLIN with base models that live in a seeded latent space: the heart that is to take the place of `learners/merlin`.

`learner.py` is Algorithm 1, `consolidation.py` Algorithm 2, `inference.py` Algorithm 3. `base_models.py` trains the models whose
weights `distribution.py` describes: a decoder that a seed regenerates, and a prior for every task, kept by `storage.py`.
"""
