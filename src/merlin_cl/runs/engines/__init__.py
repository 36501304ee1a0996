"""Where the runs of a grid are computed: processes of this machine, or a Ray cluster. The grid itself does not care."""
