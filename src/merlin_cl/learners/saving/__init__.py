"""A learner in one file: safetensors with a JSON header and a checksum, nothing pickled. `saved.py` says what is in it."""
