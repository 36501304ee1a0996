"""Inputs as users have them, brought to the tensors that networks take."""
