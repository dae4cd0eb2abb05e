"""Libera's formats: the command that registers data files by their names, and the runs that made them."""

from graph.domain import Domain
from graph.domains.libera.commands import files

DOMAIN = Domain(name="libera", part_of="data_files", commands=(files,))
