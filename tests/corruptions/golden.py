"""Digests of what stored datasets hold: keyed corruptions, distortions, sequences, JPEG files.

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
from ops.corruptions.distortions import DISTORTIONS, LEVELS, distort, presets, resized
from ops.corruptions.encoding import encode_jpeg
from ops.corruptions.engine import corrupt_all
from ops.perturbations import perturbations, sequence
from tests.parity import inputs

FILE = Path(__file__).with_name("golden.json")
SIZES = {"imagenet_224": 224, "imagenet_299": 299, "tiny_imagenet_64": 64}
# Where each part's version is raised, which makes what was stored before outdated.
VERSIONS = {
    "corruptions": "ops/corruptions/engine.py",
    "distortions": "ops/corruptions/distortions.py",
    "sequences": "ops/perturbations/sequence.py",
}

Digests = dict[str, str]


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
    found: dict[str, Digests] = json.loads(FILE.read_text())
    return found


def told(part: str, found: Iterable[tuple[str, str]]) -> str:
    """What to do about digests that are not the stored ones; nothing where all are."""
    expected = stored()[part]
    changed = [name for name, value in found if expected.get(name) != value]
    return (
        changed
        and (
            f"{len(changed)} {part} are not what was stored: {'; '.join(changed[:8])}.\n"
            f"If this change is meant, raise ENGINE_VERSION in {VERSIONS[part]} and regenerate with "
            "`python -m tests.corruptions.golden --write`."
        )
        or ""
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write golden.json anew")
    made = {
        "corruptions": dict(corruptions()),
        "distortions": dict(distortions()),
        "sequences": dict(sequences()),
    }
    if parser.parse_args().write:
        FILE.write_text(json.dumps(made, indent=1) + "\n")
        return
    raise SystemExit("\n".join(filter(None, (told(part, made[part].items()) for part in made))))


if __name__ == "__main__":
    main()
