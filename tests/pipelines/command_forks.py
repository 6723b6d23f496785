"""The command line, imported once: every command is a fork of this process, not a new start.

Reads a line of JSON for each command (`words`, `environment`, and the files `out` and `err`) and
answers with its exit code. To import it takes more than a second, most commands much less.
"""

import json
import os
import sys
import traceback

# For the commands that go on to import it.
import dagster  # noqa: F401

from pipelines.cli.main import main


def become(order):
    """Run the command; it ends this process itself."""
    write = os.O_WRONLY | os.O_CREAT
    for descriptor, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, order["out"], write),
        (2, order["err"], write),
    ):
        os.dup2(os.open(path, flags), descriptor)
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = ["shiftlake", *order["words"]]
    main()


for line in iter(sys.stdin.readline, ""):
    child = os.fork()
    if child == 0:
        try:
            become(json.loads(line))
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
