"""What else than the model differs between two runs: what to look at before any accuracy."""

from __future__ import annotations

from collections.abc import Iterable

from ops.results.comparison.runs import PairOfRuns
from ops.results.runs import Run

# Of a version or a hash, as much as tells two apart.
_SHOWN = 12


def environment_changes(pairs: Iterable[PairOfRuns]) -> list[str]:
    """Differences of the second runs from the first, each once.

    Returns
    -------
    list of str
        As ``torch 2.6.0 to 2.7.0``: versions of libraries, kind and name of the device, numerics,
        transform, code version. Neither weights nor architecture: these are what is compared.
    """
    found: dict[str, None] = {}
    for pair in pairs:
        before, now = _facts(pair.first), _facts(pair.second)
        for name in dict.fromkeys([*before, *now]):
            old, new = before.get(name, "none"), now.get(name, "none")
            if old != new:
                found[f"{name} {old} to {new}"] = None
    return list(found)


def _facts(run: Run) -> dict[str, str]:
    facts = {name: str(version) for name, version in sorted(run.versions.items())}
    facts |= {name: str(value).lower() for name, value in sorted(run.numerics.items())}
    facts["device name"] = run.device_name or "unknown"
    facts["transform"] = (run.transform_hash or "unknown")[:_SHOWN]
    if run.protocol is not None:
        facts["protocol"] = run.protocol
    facts["code version"] = run.code_version
    return facts
