"""Makes ``ops/corruptions/data/kernels.json`` again: what NumPy and OpenCV make of the tables.

Run from the root of the project, on a processor with AVX-512 (NumPy's ``exp`` has other last bits
elsewhere):

    python -m tests.corruptions.make_kernels

What belongs here: the kernels as the official code computes them, and which parameters there are.
"""

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ops.corruptions import distortions, parameters
from ops.corruptions.elastic_transform import TRUNCATE
from ops.perturbations import perturbations

FILE = Path(parameters.__file__).with_name("data") / "kernels.json"
Doubles = NDArray[np.float64]
Pair = tuple[float, float]


def levels(corruption: str) -> list[dict[str, Any]]:
    """The parameters of a corruption at all severities of all presets."""
    return [dict(row) for name in parameters.presets() for row in parameters.load(name)[corruption]]


def gaussians() -> list[Pair]:
    """Every sigma and truncation of the tables."""
    blurs = [("gaussian_blur", 4.0), ("glass_blur", 4.0), ("spatter", 4.0)]
    blurs.append(("elastic_transform", TRUNCATE))
    found = {(float(row["sigma"]), truncate) for name, truncate in blurs for row in levels(name)}
    found |= {(float(row["intensity"]), 4.0) for row in levels("spatter") if row["mud"]}
    blur, spatter = perturbations()["gaussian_blur"], perturbations()["spatter"]
    (growing,), (water,) = blur.levels, spatter.levels
    sigma, truncate = growing["sigma"], float(growing["truncate"])
    found |= {(sigma["start"] + sigma["step"] * frame, truncate) for frame in range(blur.frames)}
    found.add((float(water["sigma"]), 4.0))
    return sorted(pair for pair in found if pair[0])


def disks() -> list[Pair]:
    """Every radius and sigma of defocus_blur."""
    found = {(float(row["radius"]), float(row["alias_sigma"])) for row in levels("defocus_blur")}
    return sorted(found)


def blurs_of_distortions() -> list[Pair]:
    """Every sigma and number of taps of DeepCorrect's blurs in floating point."""
    rows = [
        distortions.parameters("gaussian_blur", level, preset)
        for preset in distortions.presets()
        for level in distortions.LEVELS
    ]
    return sorted(
        {(float(r["sigma"]), float(r["taps"])) for r in rows if r["arithmetic"] == "float"}
    )


def numpys_gaussian(sigma: float, truncate: float) -> Doubles:
    """As scipy.ndimage.gaussian_filter makes it, from the middle outwards."""
    radius = int(truncate * sigma + 0.5)
    weights = np.exp(-0.5 / (sigma * sigma) * np.arange(-radius, radius + 1) ** 2)
    return (weights / weights.sum())[radius:]


def numpys_distortion(sigma: float, taps: float) -> Doubles:
    """Of a number of taps, from the middle outwards."""
    places = np.arange(taps) - (taps - 1) / 2
    weights = np.exp(-0.5 * (places / sigma) ** 2)
    return (weights / weights.sum())[int(taps) // 2 :]


def opencvs_disk(radius: float, alias_sigma: float) -> NDArray[np.float32]:
    """As imagenet-c makes it: OpenCV softens a disk in single precision."""
    reach = np.arange(-8, 9) if radius <= 8 else np.arange(-radius, radius + 1)
    disk = (reach**2 + reach[:, None] ** 2 <= radius**2).astype(np.float32)
    disk /= disk.sum()
    side = 3 if radius <= 8 else 5
    return np.asarray(cv2.GaussianBlur(disk, (side, side), alias_sigma), np.float32)


def half(kernel: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows from the middle down; the others are their mirror image."""
    if not np.array_equal(kernel, kernel[::-1]):
        raise SystemExit("OpenCV made a disk whose upper and lower halves differ")
    return kernel[len(kernel) // 2 :]


def main() -> None:
    made: dict[str, list[tuple[Pair, NDArray[Any]]]] = {
        "gaussian": [(pair, numpys_gaussian(*pair)) for pair in gaussians()],
        "distortion": [(pair, numpys_distortion(*pair)) for pair in blurs_of_distortions()],
        "disk": [(pair, half(opencvs_disk(*pair))) for pair in disks()],
    }
    kinds = []
    for kind, kernels in made.items():
        rows = [
            json.dumps([*pair, " ".join(float(w).hex() if w else "0" for w in weights.flat)])
            for pair, weights in kernels
        ]
        kinds.append(f'"{kind}": [\n' + ",\n".join(rows) + "\n]")
    FILE.write_text("{\n" + ",\n".join(kinds) + "\n}\n")
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes, {sum(map(len, made.values()))} kernels")


if __name__ == "__main__":
    main()
