"""Makes ``data/`` again: outputs of the reference implementations, as hashes and samples.

Run from the root of the project, on a machine with the internet and ImageMagick 6:

    python -m tests.parity.make_fixtures --scratch some/folder --opencv5

A scratch environment with pinned packages is built, the published packages are patched until
they run on it, and ``reference_outputs.py`` runs in it. None of their code comes here.
"""

import argparse
import hashlib
import json
import os
import subprocess
import tempfile
import urllib.request
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.parity.inputs import CORRUPTION_INPUTS, SEQUENCE_INPUTS, Image

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
PINS = (
    "numpy==2.4.6",
    "scipy==1.17.1",
    "scikit-image==0.26.0",
    # OpenCV 5 warps differently; 4.10 and 4.14 make the same pixels.
    "opencv-python-headless==4.10.0.84",
    "pillow==13.0.0",
    "Wand==0.7.2",
    "setuptools==80.9.0",  # still with pkg_resources, which imagenet-c imports
    "torch==2.13.0",
    "torchvision==0.28.0",
)
# Their own pins are of 2018 and cannot be met: no dependencies.
BARE_PINS = ("imagenet-c==0.0.3", "imagecorruptions==1.1.2")
OPENCV5 = "opencv-python-headless==5.0.0.93"
IMAGENET_P = (
    "https://raw.githubusercontent.com/hendrycks/robustness/"
    "8190fe329f5f072a06e3a2aea02bb5dda69aed9f/ImageNet-P/create_p/make_imagenet_p.py"
)
FROST_MD5 = {  # imagenet-c's wheel lacks the photographs; imagecorruptions' holds the same files
    "frost1.png": "6ead634ace1f366d77e87078b465863c",
    "frost2.png": "98f0d2b1d74a048d3bc9c7ecfd886939",
    "frost3.png": "b3ed8eb147824261888e730f916c0d8b",
    "frost4.jpg": "d70b9d6aa0b1fe7bd8133b113787e078",
    "frost5.jpg": "50984ae2c871b7df2c28f1d71ca460a0",
    "frost6.jpg": "bd01b8fc7c34a4ff3265c6fb476cff7b",
}
DRAWING = (
    *("gaussian_noise", "shot_noise", "impulse_noise", "glass_blur", "motion_blur", "snow"),
    *("frost", "fog", "elastic_transform", "speckle_noise", "spatter"),
)
STILL = (
    *("defocus_blur", "zoom_blur", "brightness", "contrast", "pixelate", "jpeg_compression"),
    *("gaussian_blur", "saturate"),
)
SEEDS = {name: [0, 1] for name in DRAWING} | {name: [0] for name in STILL}
# 28 of 224, both edges among them, at every phase of an 8x8 block.
GRID = [223 * step // 27 for step in range(28)]
PROCEDURE = {
    "corruptions": "np.random.seed(seed) before each call of imagenet_c.corrupt(image, severity, "
    "corruption); the eight that draw nothing are stored for seed 0 only.",
    "impulse_noise": "skimage.util.random_noise given rng=np.random.mtrand._rand, the stream that "
    "np.random.seed sets, as scikit-image used it before its pull request 5357: the first "
    "random_sample(shape) < amount is flipped, the second < 0.5 is salt.",
    "sequences": "np.random.seed(0) and torch.manual_seed(0) before each sequence; gaussian_noise "
    "draws 30 torch.randn of float32 [3, 224, 224], every other one from np.random; frames as "
    "saved to PNG, before any video.",
}


class Patch(NamedTuple):
    """A text replaced in imagenet-c, how often it must be there, and why."""

    old: str
    new: str
    times: int
    why: str


PATCHES = (
    Patch("multichannel=True", "channel_axis=-1", 3, "argument gone since scikit-image 0.20"),
    Patch("np.float_)", "np.float64)", 1, "name gone since NumPy 2.0"),
    Patch("np.fromstring", "np.frombuffer", 2, "NumPy 2.4 refuses binary strings"),
    Patch("scipy.ndimage.interpolation", "scipy.ndimage", 1, "SciPy 2.0 drops the namespace"),
)


def run(*command: str | Path, **environment: str) -> str:
    """Run a command and return what it printed; its errors show."""
    variables = {**os.environ, **environment}
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=variables)
    return done.stdout.strip()


def build(scratch: Path) -> Path:
    """Build the scratch environment with imagenet-c patched; return its Python.

    Raises
    ------
    SystemExit
        ImageMagick is missing, a package is not the published one.
    """
    python = scratch / "venv" / "bin" / "python"
    ready = scratch / "venv" / "ready"
    if ready.exists():
        return python
    venv.create(scratch / "venv", clear=True, with_pip=True)
    run(python, "-m", "pip", "install", "--quiet", *PINS)
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", *BARE_PINS)
    try:
        run(python, "-c", "import wand.image")
    except subprocess.CalledProcessError:
        raise SystemExit(
            "ImageMagick's MagickWand library was not found, and motion_blur and snow need it. "
            "Install ImageMagick 6, on Debian and Ubuntu: apt-get install libmagickwand-dev"
        ) from None
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    code = packages / "imagenet_c" / "corruptions.py"
    text = code.read_text()
    for patch in PATCHES:
        if text.count(patch.old) != patch.times:
            raise SystemExit(f"{BARE_PINS[0]}: {patch.old!r} is not there {patch.times} times")
        text = text.replace(patch.old, patch.new)
    code.write_text(text)
    frost = packages / "imagenet_c" / "frost"
    frost.mkdir(exist_ok=True)
    for name, md5 in FROST_MD5.items():
        photograph = (packages / "imagecorruptions" / "frost" / name).read_bytes()
        if hashlib.md5(photograph).hexdigest() != md5:
            raise SystemExit(f"{BARE_PINS[1]}: frost/{name} is not the published photograph")
        (frost / name).write_bytes(photograph)
    ready.touch()
    return python


def write_inputs(folder: Path) -> None:
    """Write the inputs where ``reference_outputs.py`` reads them, which knows no project."""
    for part, images in (("corruptions", CORRUPTION_INPUTS), ("sequences", SEQUENCE_INPUTS)):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for name, make in images.items():
            np.save(folder / part / f"{name}.npy", make())


def sha256(image: NDArray[np.uint8]) -> str:
    """Hash of the samples in C order, [height, width, channel]."""
    return hashlib.sha256(np.ascontiguousarray(image).tobytes()).hexdigest()


def sampled(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The stored rows and columns of uint8 [..., 224, 224, 3]."""
    return images[..., GRID, :, :][..., GRID, :]


def described(images: dict[str, Callable[[], Image]]) -> dict[str, dict[str, Any]]:
    """Shape and hash of each input, by name."""
    made = {name: images[name]() for name in sorted(images)}
    return {name: {"shape": image.shape, "sha256": sha256(image)} for name, image in made.items()}


def write_corruptions(outputs: Path, about: dict[str, Any], differing: dict[str, Any]) -> None:
    """Write ``corruptions.json`` and ``corruptions.npz``."""
    hashes: dict[str, Any] = {}
    samples: dict[str, NDArray[np.uint8]] = {}
    inputs = described(CORRUPTION_INPUTS)
    for name, seeds in SEEDS.items():
        made = np.load(outputs / f"{name}.npy")
        hashes[name] = {
            severity: {
                image: {seed: sha256(made[i, j, k]) for k, seed in enumerate(seeds)}
                for j, image in enumerate(inputs)
            }
            for i, severity in enumerate((1, 2, 3, 4, 5))
        }
        samples[name] = sampled(made)
    text = {**about, "inputs": inputs, "opencv5": differing, "sha256": hashes}
    (DATA / "corruptions.json").write_text(json.dumps(text, indent=1) + "\n")
    np.savez_compressed(DATA / "corruptions.npz", **samples)


def write_sequences(outputs: Path, about: dict[str, Any], differing: dict[str, Any]) -> None:
    """Write ``sequences.json`` and ``sequences.npz``."""
    hashes: dict[str, Any] = {}
    frames: dict[str, list[int]] = {}
    samples: dict[str, NDArray[np.uint8]] = {}
    inputs = described(SEQUENCE_INPUTS)
    for path in sorted(outputs.glob("*.npy")):
        made = np.load(path)
        count = made.shape[1]
        frames[path.stem] = [0, 1, count // 3, count - 1]
        hashes[path.stem] = {
            image: [sha256(frame) for frame in made[j]] for j, image in enumerate(inputs)
        }
        samples[path.stem] = sampled(made[:, frames[path.stem]])
    text = {**about, "inputs": inputs, "opencv5": differing, "frames": frames, "sha256": hashes}
    (DATA / "sequences.json").write_text(json.dumps(text, indent=1) + "\n")
    np.savez_compressed(DATA / "sequences.npz", **samples)


def compare(one: Path, other: Path) -> dict[str, Any]:
    """Greatest difference and share of differing samples, of the files that differ."""
    found: dict[str, Any] = {}
    for path in sorted(one.glob("*.npy")):
        apart = np.abs(np.load(path).astype(np.int16) - np.load(other / path.name))
        if apart.any():
            found[path.stem] = {
                "greatest": int(apart.max()),
                "share": round(float((apart > 0).mean()), 7),
            }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--scratch", type=Path, help="folder to build in, or to use again")
    parser.add_argument("--imagenet-p", type=Path, help="make_imagenet_p.py, instead of GitHub's")
    parser.add_argument("--opencv5", action="store_true", help="measure OpenCV 5 beside 4")
    given = parser.parse_args()
    scratch = Path(given.scratch or tempfile.mkdtemp(prefix="parity-")).resolve()
    python = build(scratch)
    write_inputs(scratch / "inputs")
    script = given.imagenet_p
    if script is None:
        script = scratch / "make_imagenet_p.py"
        try:
            urllib.request.urlretrieve(IMAGENET_P, script)
        except OSError as error:
            raise SystemExit(
                f"{IMAGENET_P} could not be fetched ({error}). "
                "Where GitHub is out of reach, bring the file and name it: --imagenet-p FILE"
            ) from error

    def outputs(name: str, **environment: str) -> Path:
        arguments = ("--imagenet-p", script.resolve(), "--seeds", json.dumps(SEEDS))
        folders = (scratch / "inputs", scratch / name)
        run(python, HERE / "reference_outputs.py", *folders, *arguments, **environment)
        return scratch / name

    four = outputs("outputs")
    differing: dict[str, dict[str, Any]] = {"corruptions": {}, "sequences": {}}
    if given.opencv5:
        beside = scratch / "opencv5"
        target = ("--no-deps", "--upgrade", "--target", beside)
        run(python, "-m", "pip", "install", "--quiet", *target, OPENCV5)
        five = outputs("outputs-opencv5", PYTHONPATH=str(beside))
        for part, found in differing.items():
            found["version"] = json.loads((five / "environment.json").read_text())["opencv"]
            found["differing"] = compare(four / part, five / part)
    about = {
        "environment": json.loads((four / "environment.json").read_text()),
        "imagenet_p_sha256": hashlib.sha256(script.read_bytes()).hexdigest(),
        "patches": [patch._asdict() for patch in PATCHES],
        "procedure": PROCEDURE,
        "grid": GRID,
    }
    DATA.mkdir(exist_ok=True)
    write_corruptions(four / "corruptions", about, differing["corruptions"])
    write_sequences(four / "sequences", about, differing["sequences"])
    for path in sorted(DATA.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
