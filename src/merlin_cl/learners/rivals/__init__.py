"""MERLIN's rivals and controls: a file a method, and beside it, under its name and `_settings`, its settings without torch."""
