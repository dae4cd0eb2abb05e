"""A data file as a dataset of OpenLineage, which a namespace and a name identify. One to one, by the file's name alone.

    (quakegraph, LIBERA_L1B_RAD.nc)     LIBERA_L1B_RAD.nc
    (s3://archive, 2024/raw.nc)         s3://archive#2024/raw.nc

A name in the service's own namespace is the name of a file. In the name of any other file, its namespace stands first.
"""

from typing import NamedTuple, Self

from graph.domains.data_files.model import FileRevision

SOFTWARE = "quakegraph"  # what this service calls itself in documents; it never changes
OWN_NAMESPACE = SOFTWARE
_NUMBER = f"{SOFTWARE}:"  # before the number of a revision, since the versions of others are numbers too


class Dataset(NamedTuple):
    """A dataset, by what identifies it."""

    namespace: str
    name: str

    @property
    def file_name(self) -> str:
        """The name of its data file."""
        if self.namespace == OWN_NAMESPACE:
            return self.name
        return f"{self.namespace.replace('%', '%25').replace('#', '%23')}#{self.name}"

    @classmethod
    def of(cls, file_name: str) -> Self:
        """The dataset of a file."""
        namespace, _, name = file_name.partition("#")
        dataset = cls(namespace.replace("%23", "#").replace("%25", "%"), name)
        is_foreign = namespace and name and dataset.file_name == file_name
        return dataset if is_foreign else cls(OWN_NAMESPACE, file_name)


def dataset_version(revision: FileRevision) -> str:
    """The version of the dataset that a revision is: the one that it came in with, or its run's id, or its number."""
    return revision.dataset_version or revision.generated_by or f"{_NUMBER}{revision.number}"


def number_of(version: str) -> str:
    """The number of the revision that a version of a dataset names, as text; empty if it names none."""
    return version.removeprefix(_NUMBER) if version.startswith(_NUMBER) else ""
