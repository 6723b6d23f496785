"""Runs the reference implementations and writes every pixel they make.

For the scratch environment that ``make_fixtures.py`` builds; it imports nothing of this
project. Reads the inputs ``make_fixtures.py`` wrote, writes one ``.npy`` per corruption and
per sequence, and what ran as ``environment.json``.
"""

import argparse
import functools
import json
import platform
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

SEVERITIES = (1, 2, 3, 4, 5)
_kept: list[object] = []  # operators declared by a library that is let go are undone
# A later release renamed what the sequence script calls; nothing else of it is changed.
SEQUENCE_PATCHES = (
    ("np.fromstring", "np.frombuffer"),  # NumPy 2.4 refuses binary fromstring
    ("multichannel=True", "channel_axis=-1"),  # scikit-image 0.20
    ("resample=PILImage.BILINEAR", "interpolation=trn.InterpolationMode.BILINEAR"),  # torchvision
)


def seed_impulse_noise() -> None:
    """Let ``np.random.seed`` govern impulse noise, as it did when ImageNet-C was made.

    scikit-image's ``random_noise`` drew from NumPy's global stream until its pull request 5357
    (2021) and from a fresh generator since. The global stream is handed to it here. The two
    draws are then those of the old code, checked below: ``choice([True, False], p=[c, 1 - c])``
    for "flipped", ``choice([True, False], p=[.5, .5])`` for "salted", both of the image's shape.
    """
    import skimage.util

    seeded = functools.partial(skimage.util.random_noise, rng=np.random.mtrand._rand)
    grey = np.full((32, 32, 3), 0.5)
    np.random.seed(0)
    new = seeded(grey, mode="s&p", amount=0.27)
    np.random.seed(0)
    flipped = np.random.choice([True, False], size=grey.shape, p=[0.27, 1 - 0.27])
    salted = np.random.choice([True, False], size=grey.shape, p=[0.5, 1 - 0.5])
    old = np.where(flipped, np.where(salted, 1.0, 0.0), grey)
    if not np.array_equal(new, old):
        raise SystemExit("this scikit-image does not replay the draws of the global NumPy stream")
    skimage.util.random_noise = seeded


def run_corruptions(inputs: Path, outputs: Path, seeds: dict[str, list[int]]) -> None:
    """Write uint8 [severity, input, seed, 224, 224, 3] per corruption of imagenet-c."""
    import imagenet_c

    seed_impulse_noise()
    images = [np.load(path) for path in sorted(inputs.glob("*.npy"))]
    for name, tried in seeds.items():
        made = np.empty((len(SEVERITIES), len(images), len(tried), 224, 224, 3), np.uint8)
        for i, severity in enumerate(SEVERITIES):
            for j, image in enumerate(images):
                for k, seed in enumerate(tried):
                    np.random.seed(seed)
                    made[i, j, k] = imagenet_c.corrupt(image, severity, name)
        np.save(outputs / f"{name}.npy", made)


def import_torchvision() -> None:
    """Import torchvision, also where its compiled operators cannot be loaded.

    PyPI's torchvision is built for CUDA; beside a CPU build of torch its two operators are
    missing and the import fails. The sequences use neither, so they are only declared.
    """
    try:
        import torchvision
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        import torch

        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "DEF")
        _kept.append(library)
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        import torchvision  # noqa: F401


def sequence_programs(script: Path) -> tuple[str, dict[str, str]]:
    """Cut ``make_imagenet_p.py`` into its shared top and one program per sequence.

    The script holds one block per perturbation, all but one commented out, and in the blocks
    of the noises two more levels, commented out once more. Each ends where it names the folder
    of its videos.
    """
    text = script.read_text()
    for old, new in SEQUENCE_PATCHES:
        text = text.replace(old, new)
    top, body = text.split("\nfor index, folder in", 1)
    block = r"^ {8}(?:# )?# /+ ([\w ]+) Code /+\n(.*?)^ {8}(?:# )?# /+ End \1 Code"
    programs: dict[str, str] = {}
    for found in re.finditer(block, body, re.MULTILINE | re.DOTALL):
        lines = found[2].splitlines()
        commented = all(line.startswith("        #") for line in lines if line.strip())
        lines = [line[10 if commented else 8 :] for line in lines]
        # The caller brings the folder that the frames go to.
        lines = [line for line in lines if not line.startswith(("tmp = ", "os.makedirs(tmp)"))]
        code = re.sub(r"^# ?", "", "\n".join(lines), flags=re.MULTILINE)
        parts = re.split(r"^save_dir = '.*/ImageNet-P/(\w+)/' .*$", code, flags=re.MULTILINE)
        setup = parts[0][: parts[0].index("for i in")]
        for index, name in enumerate(parts[1::2]):
            programs[name] = parts[0] if index == 0 else setup + parts[2 * index]
    return top, programs


def run_sequences(script: Path, inputs: Path, outputs: Path, seed: int) -> None:
    """Write uint8 [input, frame, 224, 224, 3] per sequence, from frames saved as PNG."""
    from PIL import Image

    import_torchvision()
    import torch

    top, programs = sequence_programs(script)
    names: dict[str, Any] = {}
    exec(compile(top, script.name, "exec"), names)
    for name, program in programs.items():
        made = []
        for path in sorted(inputs.glob("*.npy")):
            with tempfile.TemporaryDirectory() as folder:
                opened = Image.fromarray(np.load(path))
                names["img"] = names["trn"].Resize(256)(opened).convert("RGB")
                names["tmp"] = folder
                np.random.seed(seed)
                torch.manual_seed(seed)
                exec(compile(program, f"{script.name}: {name}", "exec"), names)
                frames = sorted(Path(folder).iterdir(), key=lambda frame: int(frame.stem[3:]))
                made.append(np.stack([np.asarray(Image.open(frame)) for frame in frames]))
        np.save(outputs / f"{name}.npy", np.stack(made))


def environment() -> dict[str, str]:
    """What ran, by version."""
    import cv2
    import torch
    from PIL import features
    from wand.version import MAGICK_VERSION

    packages = ("imagenet-c", "numpy", "scipy", "scikit-image", "pillow", "Wand")
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{name: version(name) for name in packages},
        "libjpeg-turbo": features.version("libjpeg_turbo") or "none",
        "opencv": cv2.__version__,
        "ImageMagick": " ".join(MAGICK_VERSION.split()[1:3]),
        "torch": torch.__version__,
        "torch_cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "torchvision": version("torchvision"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", type=Path)
    parser.add_argument("outputs", type=Path)
    parser.add_argument("--imagenet-p", type=Path, required=True, help="make_imagenet_p.py")
    parser.add_argument("--seeds", type=json.loads, required=True, help="corruption: seeds")
    given = parser.parse_args()
    for part in ("corruptions", "sequences"):
        (given.outputs / part).mkdir(parents=True, exist_ok=True)
    run_corruptions(given.inputs / "corruptions", given.outputs / "corruptions", given.seeds)
    run_sequences(given.imagenet_p, given.inputs / "sequences", given.outputs / "sequences", 0)
    (given.outputs / "environment.json").write_text(json.dumps(environment()))


if __name__ == "__main__":
    main()
