"""What one evaluation is: a model on a dataset, with what decides its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ops.catalog import Catalog
from ops.inference.record import Numerics
from ops.models import ModelEntry
from ops.shards import Manifest
from ops.storage import Root, paths


@dataclass(frozen=True)
class Job:
    """All that a process needs in order to evaluate some shards.

    Parameters
    ----------
    root : Root
    catalog : Catalog
    entry : ModelEntry
        The registered model.
    manifest : Manifest
        The dataset.
    numerics : Numerics
    key : str
        The result key of the three.
    batch_size : int
        Images at most in a forward pass on a GPU, and in what is handed to the threads on a CPU.
    logits : bool
        Whether the outputs are kept.
    """

    root: Root
    catalog: Catalog
    entry: ModelEntry
    manifest: Manifest
    numerics: Numerics
    key: str
    batch_size: int
    logits: bool = False

    @property
    def folder(self) -> str:
        """The evaluation's folder below the root."""
        return paths.run(self.entry.name, self.manifest.name, self.key)

    # The catalog's classes are made as it is read, and pickling does not find them by name.
    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"catalog": self.catalog.model_dump_json(by_alias=True)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, catalog=Catalog.model_validate_json(state["catalog"]))
