"""The benchmarks: which tasks each is made of, and how a seed draws their examples."""
