"""One run is one folder: its settings, a log of events, checkpoints to go on from after a kill, and the result."""
