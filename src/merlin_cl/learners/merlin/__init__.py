"""MERLIN: Meta-Consolidation for Continual Learning (Joseph and Balasubramanian, NeurIPS 2020), one file a step of the paper.

`learner.py` is Algorithm 1, `consolidation.py` Algorithm 2, `inference.py` Algorithm 3. `base_models.py` trains the models whose
weights `distribution.py` describes: a decoder that a seed regenerates, and a prior for every task, kept by `storage.py`.
"""
