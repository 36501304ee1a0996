"""What holds for every test: one thread a process, and no limit on time but against hanging.

Tiny tensor operations are many times slower when two processes share two cores. Where other work takes those cores, a step that
takes a tenth of a second may take ten: Hypothesis is not to call that a failure.
"""

import torch
from hypothesis import HealthCheck, settings

torch.set_num_threads(1)
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
