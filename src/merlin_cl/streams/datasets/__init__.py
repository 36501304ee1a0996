"""Published data sets in their official forms, one file each: where the tasks of a stream draw their examples from."""

from merlin_cl.streams.datasets.dataset import DataSet, LoadedPart, Part, PartName
from merlin_cl.streams.datasets.load import is_present, open_data_set

__all__ = ["DataSet", "LoadedPart", "Part", "PartName", "is_present", "open_data_set"]
