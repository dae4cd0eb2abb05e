"""`python -m graph` is `quakegraph`."""

from graph.cli import main

main()
