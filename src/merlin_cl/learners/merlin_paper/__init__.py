"""MERLIN as its paper prints it (Joseph and Balasubramanian, NeurIPS 2020): `merlin-paper`, a method of its own.

`learner.py` is Algorithm 1 (`base_models.py` its line 2, `fitting.py` its line 3), `consolidation.py` Algorithm 2, `inference.py`
Algorithm 3. `vae.py` and `distribution.py` are the weight distribution, `compiled.py` the loop that fits it, `recipes.py` what
text and authors' code say differently.
"""
