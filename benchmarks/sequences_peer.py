"""The official ImageNet-P script, timed in its own environment, its blocks one at a time.

Runs in the scratch environment of ``tests/parity/make_fixtures.py`` and imports nothing of this
project but ``reference_outputs.py`` beside that, which cuts the script into blocks. Orders are read
as lines of JSON and each is answered by one line. What a block saves is kept in memory as the
picture it is, so neither PNG nor video is in the time.
"""

import json
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from reference_outputs import import_torchvision, sequence_programs


def blocks(script: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The names that all blocks share, and each block compiled."""
    import_torchvision()
    top, programs = sequence_programs(script)
    names: dict[str, Any] = {}
    exec(compile(top, script.name, "exec"), names)
    save = re.compile(r"^( *)(\S.*)\.save\(os\.path\.join\(tmp, .*\)\)$", re.MULTILINE)
    compiled = {}
    for name, program in programs.items():
        kept, saves = save.subn(r"\1kept.append(\2)", program)
        if not saves or "tmp" in kept:
            raise SystemExit(f"{script}: the frames of {name} are saved in another way")
        compiled[name] = compile(kept, f"{script.name}: {name}", "exec")
    return names, compiled


def main() -> None:
    warnings.simplefilter("ignore")
    import cv2
    import torch

    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    answers, sys.stdout = sys.stdout, sys.stderr
    names, programs = blocks(Path(sys.argv[1]))
    images = [Image.fromarray(np.load(path)) for path in sorted(Path(sys.argv[2]).glob("*.npy"))]
    for line in sys.stdin:
        order = json.loads(line)
        kept: list[Image.Image] = []
        space = {**names, "img": images[order["image"]], "kept": kept}
        np.random.seed(order["seed"])
        torch.manual_seed(order["seed"])
        start = time.process_time()
        exec(programs[order["name"]], space)
        taken = time.process_time() - start
        if order["frames"]:
            np.save(order["frames"], np.stack([np.asarray(frame) for frame in kept]))
        print(json.dumps(1e3 * taken), file=answers, flush=True)


if __name__ == "__main__":
    main()
