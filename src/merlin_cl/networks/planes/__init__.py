"""Narrow residual networks as machine code.

With few maps, a library's vectors, which hold maps, stay mostly empty; here they hold pixels of many examples. Activations are
planes: one number for each channel, row, column and example, examples last in memory.
"""
