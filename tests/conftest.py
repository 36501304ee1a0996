"""One thread a test process: tiny tensor operations are many times slower when two processes share two cores."""

import torch

torch.set_num_threads(1)
