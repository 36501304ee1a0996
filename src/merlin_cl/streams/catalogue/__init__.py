"""The data sets that streams read: what they are made of, where they are looked for, how they are fetched and checked. Nothing
here needs torch."""

from merlin_cl.streams.catalogue.entries import ENTRIES, entry
from merlin_cl.streams.catalogue.entry import Archive, Download, Entry, PublishedFile

__all__ = ["ENTRIES", "Archive", "Download", "Entry", "PublishedFile", "entry"]
