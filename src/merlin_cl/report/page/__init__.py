"""The report page: one HTML file that opens offline, and the same page served live by `merlin watch`.

Python reads run folders and decides what is shown (`build.py`); a template writes the tables (`render.py`); a little
JavaScript under `assets/script` draws the figures from the same numbers. Nothing here imports torch.
"""
