"""`python -m merlin_cl.cli` is the command `merlin`."""

from merlin_cl.cli import main

main()
