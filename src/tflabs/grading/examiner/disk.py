"""The folders that a test shares with the learner's code: they are on the learner's side."""

from __future__ import annotations

from collections.abc import Mapping

from tflabs.grading.examiner.codec import need
from tflabs.grading.examiner.link import Link


class Disk:
    """`tflabs.runtime.folders.Disk` of the learner's process. Of what it says no more than the types is believed."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def make(self) -> str:
        path = self._link.request("folder", "make")
        need(type(path) is str, "no path of a folder")
        return str(path)

    def write(self, folder: str, files: Mapping[str, bytes]) -> None:
        self._link.request("folder", "write", folder, dict(files))

    def read(self, folder: str) -> dict[str, bytes]:
        files = self._link.request("folder", "read", folder)
        need(type(files) is dict, "no files of a folder")
        need(all(type(name) is str and type(data) is bytes for name, data in files.items()), "no files of a folder")
        return dict(files)

    def remove(self, folder: str) -> None:
        self._link.request("remove", folder)
