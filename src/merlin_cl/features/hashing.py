"""Texts without a sentence encoder: words and pairs of words, hashed. It knows no synonyms, but it needs nothing else."""

from sklearn.feature_extraction.text import HashingVectorizer

FEATURES = 1024


def hashing() -> HashingVectorizer:
    """Signed counts of words and pairs of words, hashed into as many numbers whatever the words; each text has length one."""
    return HashingVectorizer(n_features=FEATURES, ngram_range=(1, 2))
