"""Loading: packaged facts, an overlay over them, and the check that all holds together."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar

from pydantic import ValidationError

from ops.catalog.addresses import mirrored
from ops.catalog.benchmark import Benchmark, named
from ops.catalog.catalog import Catalog
from ops.catalog.classes import MASKS
from ops.catalog.data_files import read_data
from ops.catalog.dataset import DatasetSpec, expand
from ops.catalog.facts import Record
from ops.catalog.overlay import Overlay, Raw, merge_benchmarks, merge_datasets, read, refused

OVERLAY_VARIABLE = "SHIFTLAKE_CATALOG"
MIRROR_VARIABLE = "SHIFTLAKE_MIRROR"

_Record = TypeVar("_Record", bound=Record)


def load(overlay: str | None = None) -> Catalog:
    """Load the catalog.

    Parameters
    ----------
    overlay : str or None
        Path or ``http(s)://`` or ``file://`` URL of a YAML or JSON overlay (see
        :mod:`ops.catalog.overlay`); None takes ``$SHIFTLAKE_CATALOG``, if set. With
        ``$SHIFTLAKE_MIRROR``, ``<mirror>/<benchmark>/<file name>`` is tried before any other URL.

    Raises
    ------
    ShiftlakeError
        If the overlay cannot be read or used; the message names the file, the key, what was
        expected and what was found.
    """
    address = overlay or os.environ.get(OVERLAY_VARIABLE)
    stated = read(address) if address else Overlay("the catalog")
    about = _about()
    touched = merge_benchmarks(_raw_benchmarks(), stated)
    benchmarks = dict(_packaged_benchmarks()) | {
        ident: _checked(Benchmark, raw, stated.address, f"benchmarks / {ident}")
        for ident, raw in touched.items()
    }
    if prefix := os.environ.get(MIRROR_VARIABLE):
        benchmarks = {ident: _mirrored(prefix, each) for ident, each in benchmarks.items()}
    packaged = _raw_datasets()
    catalog = Catalog(
        benchmarks=benchmarks,
        datasets={
            name: _packaged_datasets()[name]
            if packaged.get(name) is raw
            else _checked(DatasetSpec, {**raw, "name": name}, stated.address, f"datasets / {name}")
            for name, raw in merge_datasets(packaged, stated).items()
        },
        label_spaces={**about["label_spaces"], **stated.label_spaces},
        quirks=about["quirks"],
        statuses=about["statuses"],
    )
    _check_references(catalog, stated.address)
    return catalog


@cache
def _about() -> dict[str, Any]:
    about: dict[str, Any] = read_data("catalog.yaml")
    return about


@cache
def _raw_benchmarks() -> dict[str, Raw]:
    raw = {ident: read_data(f"benchmarks/{ident}.json") for ident in _about()["benchmarks"]}
    for ident, benchmark in raw.items():
        benchmark["files"] = [named(ident, file) for file in benchmark["files"]]
    return raw


@cache
def _raw_datasets() -> dict[str, Raw]:
    return expand({**read_data("datasets.yaml"), **read_data("rendered.yaml")})


@cache
def _packaged_benchmarks() -> dict[str, Benchmark]:
    return {ident: Benchmark.model_validate(raw) for ident, raw in _raw_benchmarks().items()}


@cache
def _packaged_datasets() -> dict[str, DatasetSpec]:
    return {
        name: DatasetSpec.model_validate({**raw, "name": name})
        for name, raw in _raw_datasets().items()
    }


def _mirrored(prefix: str, benchmark: Benchmark) -> Benchmark:
    files = tuple(
        file.model_copy(update={"mirror_url": mirrored(prefix, file.benchmark, file.name)})
        for file in benchmark.files
    )
    return benchmark.model_copy(update={"files": files})


def _checked(record: type[_Record], raw: Raw, address: str, key: str) -> _Record:
    try:
        return record.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = list(first["loc"])
        if len(place) >= 2 and place[0] == "files" and isinstance(place[1], int):
            place[1] = raw["files"][place[1]]["id"]
        found = first["input"]
        expected = first["msg"].removeprefix("Value error, expected ")
        if first["type"] == "missing":
            expected, found = "a value", "none"
        elif first["type"] == "extra_forbidden":
            expected, found = "a key of the catalog", f"the unknown key {place[-1]!r}"
        where = " / ".join([key, *(str(part) for part in place if part != "value")])
        raise refused(address, where, expected, found) from error


def _check_references(catalog: Catalog, address: str) -> None:
    """Every id that one entry gives for another exists; only an overlay can break that."""
    files = {
        ident: [file.id for file in benchmark.files]
        for ident, benchmark in catalog.benchmarks.items()
    }
    stored = [f"{file.benchmark}/{file.id}" for file in catalog.source_files()]
    checks: list[tuple[str, str | None, Iterable[str]]] = [
        (f"benchmarks / {ident} / {file.id} / same_as", file.same_as, stored)
        for ident, benchmark in catalog.benchmarks.items()
        for file in benchmark.files
    ]
    for spec in catalog.datasets.values():
        key = f"datasets / {spec.name}"
        checks += [
            (f"{key} / benchmark", spec.benchmark, files),
            (f"{key} / label_space", spec.label_space, catalog.label_spaces),
            (f"{key} / mask", spec.mask, MASKS),
            (f"{key} / joined_to", spec.joined_to, catalog.datasets),
        ]
        checks += [(f"{key} / derived_from", name, catalog.datasets) for name in spec.derived_from]
        for file_id in (*spec.files, *spec.optional_files):
            checks.append((f"{key} / files", file_id, files.get(spec.benchmark, [])))
    for key, value, choices in checks:
        if value is not None and value not in choices:
            near = get_close_matches(value, list(choices), 1, 0.4)
            expected = "an id that exists" + (f", perhaps {near[0]}" if near else "")
            raise refused(address, key, expected, value)
