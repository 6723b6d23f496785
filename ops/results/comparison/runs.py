"""Which runs of two models can be compared: current ones, on the same version of a dataset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ops.results.currency import judge
from ops.results.inventory import Inventory
from ops.results.runs import Run, runs_of


@dataclass(frozen=True)
class PairOfRuns:
    """What two models have answered to the same images."""

    first: Run
    second: Run


@dataclass(frozen=True)
class Pairing:
    """Two models, the runs of theirs that can be compared, and why others cannot.

    Parameters
    ----------
    first, second : str
        Models.
    pairs : dict
        By dataset.
    reasons : dict
        Why there is no pair, by dataset; only for those on which a model has a run.
    """

    first: str
    second: str
    pairs: dict[str, PairOfRuns] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def why_not(self, dataset: str) -> str:
        """Why the models cannot be compared on a dataset on which there is no pair."""
        neither = f"neither {self.first} nor {self.second} has a run on {dataset}"
        return self.reasons.get(dataset, neither)

    def runs(self, datasets: Iterable[str]) -> list[PairOfRuns]:
        """The pairs of several datasets."""
        return [self.pairs[name] for name in datasets]


# A run, and what has changed since: empty where nothing has.
_Current = dict[str, tuple[Run, str]]


class CurrentRuns:
    """The current run of every model on every dataset, and which of them are stale."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory, self._judged = inventory, judge(inventory)
        self._rows: dict[str, list[int]] = {}
        models = self._judged.table["model"].to_pylist()
        for i, (model, current) in enumerate(zip(models, self._judged.current, strict=True)):
            if current:
                self._rows.setdefault(model, []).append(i)

    def pair(self, first: str, second: str, *, stale: bool = False) -> Pairing:
        """Pair the runs of two models.

        Parameters
        ----------
        first, second : str
        stale : bool
            Whether stale runs are taken, too, if both are of the same version of the dataset.
        """
        pairing = Pairing(first, second)
        before, after = self._of(first), self._of(second)
        for dataset in sorted({*before, *after}):
            why = (
                self._why_not(model, dataset, own.get(dataset), stale)
                for model, own in ((first, before), (second, after))
            )
            told = "; ".join(reason for reason in why if reason)
            if not told:
                runs = PairOfRuns(before[dataset][0], after[dataset][0])
                if runs.first.dataset_version == runs.second.dataset_version:
                    pairing.pairs[dataset] = runs
                    continue
                told = f"the two runs on {dataset} are of different versions of it"
            pairing.reasons[dataset] = told
        return pairing

    def _of(self, model: str) -> _Current:
        rows = self._rows.get(model)
        if rows is None:
            return {}
        runs = runs_of(self._judged.table.take(rows))
        return {
            run.dataset: (run, self._judged.reasons[i]) for i, run in zip(rows, runs, strict=True)
        }

    def _why_not(
        self, model: str, dataset: str, current: tuple[Run, str] | None, stale: bool
    ) -> str | None:
        inventory, cell = self._inventory, (model, dataset)
        if current is not None:
            if current[1] and not stale:
                return f"the run of {model} on {dataset} is stale: {current[1]}"
            return None
        if wrong := inventory.damaged.get(cell) or inventory.newer.get(cell):
            return f"{model} on {dataset}: {wrong}"
        if failures := inventory.failures.get(cell):
            last = max(failures.values(), key=lambda failure: failure.at)
            return f"{model} failed on {dataset}: {last.reason}"
        unfinished = cell in inventory.unsealed
        return f"{model} has no {'finished ' if unfinished else ''}run on {dataset}"
