"""Doors to libraries that continual learners are used with: PyTorch's own data sets, Avalanche, continuum, one file each.

Nothing of theirs is imported before it is needed. Hugging Face's data sets have `Stream.from_huggingface`.
"""
