"""Digests of what stored datasets hold, corruptions to sequences, and of the kernels behind it.

    python -m tests.corruptions.golden           # compare with golden.json
    python -m tests.corruptions.golden --write   # write it anew

What belongs here: what is hashed. A digest is the first 16 characters of a SHA-256.
"""

import argparse
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ops.corruptions import CORRUPTIONS, SEVERITIES, Key
from ops.corruptions.defocus_blur import disk_kernel
from ops.corruptions.distortions import DISTORTIONS, LEVELS, distort, presets, resized
from ops.corruptions.encoding import encode_jpeg
from ops.corruptions.engine import corrupt_all
from ops.corruptions.gaussian import gaussian_pairs
from ops.corruptions.motion_taps import motion_taps
from ops.corruptions.textures import found
from ops.corruptions.wide_gaussian import blur_wide, blur_wide_exact
from ops.errors import ShiftlakeError
from ops.perturbations import perturbations, sequence
from tests.corruptions import make_kernels
from tests.parity import inputs

FILE = Path(__file__).with_name("golden.json")
SIZES = {"imagenet_224": 224, "imagenet_299": 299, "tiny_imagenet_64": 64}
# Where each part's version is raised, which makes what was stored before outdated.
VERSIONS = {
    "kernels": "ops/corruptions/engine.py",
    "corruptions": "ops/corruptions/engine.py",
    "distortions": "ops/corruptions/distortions.py",
    "sequences": "ops/perturbations/sequence.py",
}

Digests = dict[str, str]


def available() -> list[str]:
    """All corruptions, but frost only where its published photographs are installed."""
    try:
        found()
    except ShiftlakeError:
        return [name for name in CORRUPTIONS if name != "frost"]
    return list(CORRUPTIONS)


def digest(content: bytes | np.ndarray) -> str:
    content = content if isinstance(content, bytes) else np.ascontiguousarray(content).tobytes()
    return hashlib.sha256(content).hexdigest()[:16]


def corruptions(names: Iterable[str] = CORRUPTIONS) -> Iterator[tuple[str, str]]:
    """Every severity: both modes at 224 pixels, with the files of the fast one; fast elsewhere."""
    conditions = [(name, severity) for name in names for severity in SEVERITIES]
    for preset, size in SIZES.items():
        picture = inputs.scene(size, size, 0)
        for mode in ("fast", "exact") if size == 224 else ("fast",):
            made = corrupt_all(picture, conditions, Key("golden"), mode=mode, preset=preset)
            for (name, severity), image in made:
                yield f"{name} {severity} {preset} {mode}", digest(image)
                if size == 224 and mode == "fast":
                    yield f"{name} {severity} {preset} jpeg", digest(encode_jpeg(image))


def kernels() -> Iterator[tuple[str, str]]:
    """Kernels of every parameter of the tables, and some of none, to the last bit."""
    for pair in [*make_kernels.gaussians(), (2.44001, 3.0), (30.0, 3.0)]:
        yield f"gaussian {pair}", digest(gaussian_pairs(*pair))
    for pair in [*make_kernels.disks(), (5.5, 0.5), (11, 0.6)]:
        yield f"disk {pair}", digest(disk_kernel(*pair))
    for row in make_kernels.levels("motion_blur"):
        taps = motion_taps(row["radius"], row["sigma"], -33.3)
        yield f"motion {row['radius']} {row['sigma']}", digest(taps.weights)
    field = inputs.grey()[..., 0] / 255
    for sigma in (19.52, 30.0, 170.79999999999998):
        single = blur_wide(field.astype(np.float32), sigma, truncate=3.0, gain=244.0)
        yield f"wide {sigma}", digest(single)
        double = blur_wide_exact(field, sigma, truncate=3.0, gain=244.0)
        yield f"wide exact {sigma}", digest(double)


def distortions() -> Iterator[tuple[str, str]]:
    """Both distortions at all levels of all presets."""
    picture = inputs.scene(96, 120, 5)
    for preset in presets():
        small = resized(picture, preset)
        for name in DISTORTIONS:
            for level in LEVELS:
                made = distort(small, name, level, preset=preset, key=Key("golden"))
                yield f"{name} {level} {preset}", digest(made)


def sequences() -> Iterator[tuple[str, str]]:
    """All frames of every perturbation and difficulty."""
    picture = inputs.SEQUENCE_INPUTS["wide"]()
    for name, known in perturbations().items():
        for difficulty in range(1, len(known.levels) + 1):
            made = sequence(picture, name, key=Key("golden"), difficulty=difficulty)
            yield f"{name} {difficulty}", digest(made)


def stored() -> dict[str, Digests]:
    digests: dict[str, Digests] = json.loads(FILE.read_text())
    return digests


def told(part: str, made: Iterable[tuple[str, str]]) -> str:
    """What to do about digests that are not the stored ones; nothing where all are."""
    expected = stored()[part]
    changed = [name for name, value in made if expected.get(name) != value]
    if not changed:
        return ""
    return (
        f"{len(changed)} {part} are not what was stored: {'; '.join(changed[:8])}.\n"
        f"If this change is meant, raise ENGINE_VERSION in {VERSIONS[part]} and regenerate with "
        "`python -m tests.corruptions.golden --write`."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare digests with those stored.")
    parser.add_argument("--write", action="store_true", help="store them instead")
    arguments = parser.parse_args()
    made = {
        "kernels": dict(kernels()),
        "corruptions": dict(corruptions(available())),
        "distortions": dict(distortions()),
        "sequences": dict(sequences()),
    }
    if arguments.write:
        FILE.write_text(json.dumps(made, indent=1) + "\n")
        return
    changed = [told(part, digests.items()) for part, digests in made.items()]
    raise SystemExit("\n".join(filter(None, changed)) or 0)


if __name__ == "__main__":
    main()
