"""Online continual learning in bounded memory: MERLIN and its rivals under the same rules."""
