"""``python -m pipelines.cli``: the command line without an installed script."""

from pipelines.cli.main import main

main()
