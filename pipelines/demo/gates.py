"""The demo's gate: the candidate against the network it would replace."""

from __future__ import annotations

import yaml

from ops.storage import Root, paths
from pipelines.demo.networks import BASELINE, CANDIDATE


def state_gates(root: Root) -> None:
    """Write ``gates.yaml``, unless there is one: somebody may have changed it."""
    if root.exists(paths.gates()):
        return
    stated = {
        "gates": {
            "release": {
                "baseline": {"model": BASELINE},
                "candidates": [CANDIDATE],
                "margins": {"imagenet_1k": 3.0, "imagenetv2": 5.0, "imagenet_r": 6.0},
            }
        }
    }
    root.write_bytes(paths.gates(), yaml.safe_dump(stated, sort_keys=False).encode())
