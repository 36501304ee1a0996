"""Methods that learn from a stream of tasks: one life cycle (`learner.py`), one file a method, `merlin/` one file a step."""
