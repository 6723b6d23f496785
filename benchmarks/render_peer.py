"""The published corruption packages, timed in their own environment.

Runs in the scratch environment of ``benchmarks/render_environment.py`` and imports nothing of this
project. ``inputs FOLDER`` writes the photographs; otherwise the name of a package is given, orders
are read as lines of JSON and each is answered by one line.
"""

import io
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

PHOTOGRAPHS = ("astronaut", "coffee", "chelsea", "rocket", "retina", "immunohistochemistry")
# An ILSVRC photograph's usual size.
WIDTH, HEIGHT = 500, 375
BLOCK_SECONDS = 0.05
MAX_REPEATS = 8


def resized(image: Image.Image) -> Image.Image:
    """The shorter side to 256 and the centre of 224, as torchvision does it with Pillow."""
    shorter = min(image.size)
    image = image.resize(
        tuple(256 if side == shorter else int(256 * side / shorter) for side in image.size),
        Image.BILINEAR,
    )
    left, top = (round((side - 224) / 2.0) for side in image.size)
    return image.crop((left, top, left + 224, top + 224))


def write_inputs(folder: Path) -> None:
    """Write scikit-image's photographs as JPEG of 500 x 375, quality 95."""
    import skimage.data

    folder.mkdir(parents=True, exist_ok=True)
    for name in PHOTOGRAPHS:
        image = Image.fromarray(getattr(skimage.data, name)()[..., :3])
        width = min(image.width, image.height * WIDTH // HEIGHT)
        height = min(image.height, image.width * HEIGHT // WIDTH)
        left, top = (image.width - width) // 2, (image.height - height) // 2
        image = image.crop((left, top, left + width, top + height))
        image.resize((WIDTH, HEIGHT), Image.LANCZOS).save(folder / f"{name}.jpg", quality=95)


def corrupter(package: str) -> Callable[[Any, str, int], Any]:
    """Return ``corrupt(image, corruption, severity)`` of a package."""
    if package == "imagenet_c":
        import imagenet_c

        return lambda image, corruption, severity: imagenet_c.corrupt(image, severity, corruption)
    import imagecorruptions

    return lambda image, corruption, severity: imagecorruptions.corrupt(
        image, severity=severity, corruption_name=corruption
    )


def timed(call: Callable[[int], object], count: int) -> list[list[float]]:
    """CPU milliseconds of ``call(i)`` for each i below count, until a block's time has passed."""
    found: list[list[float]] = [[] for _ in range(count)]
    spent, passes = 0.0, 0
    while passes == 0 or (spent < BLOCK_SECONDS and passes < MAX_REPEATS):
        for index in range(count):
            start = time.process_time()
            call(index)
            taken = time.process_time() - start
            found[index].append(1e3 * taken)
            spent += taken
        passes += 1
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    if sys.argv[1] == "inputs":
        write_inputs(Path(sys.argv[2]))
        return
    import cv2

    cv2.setNumThreads(1)
    # Packages print; the answers go where standard output was.
    answers, sys.stdout = sys.stdout, sys.stderr
    corrupt = corrupter(sys.argv[1])
    files = [path.read_bytes() for path in sorted(Path(sys.argv[2]).glob("*.jpg"))]
    images = [np.asarray(resized(Image.open(io.BytesIO(file)).convert("RGB"))) for file in files]

    def pipeline(index: int, conditions: list[tuple[str, int]]) -> None:
        for corruption, severity in conditions:
            image = np.asarray(resized(Image.open(io.BytesIO(files[index])).convert("RGB")))
            made = Image.fromarray(np.uint8(corrupt(image, corruption, severity)))
            made.save(io.BytesIO(), "JPEG", quality=85, optimize=True)

    for line in sys.stdin:
        order = json.loads(line)
        if order["what"] == "condition":
            corruption, severity = order["corruption"], order["severity"]
            if order["warm"]:
                np.uint8(corrupt(images[0], corruption, severity))
            found = timed(lambda i: np.uint8(corrupt(images[i], corruption, severity)), len(images))  # noqa: B023
        else:
            found = timed(lambda i: pipeline(i, order["conditions"]), len(images))  # noqa: B023
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
