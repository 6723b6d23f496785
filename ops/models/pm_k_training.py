"""Fine-tune a registered model on frame sets: on anchors, or on the worst frame of each set.

With the pm-k loss of Shankar et al. (2021) ImageNet-Vid-Robust went from 80.8 % of anchors and
65.7 % of neighbourhoods right to 36.2 % and 29.8 % (their table 2): the drop is smaller, and of the
anchors that are right about as many flip. It is an experiment, and its result has to be read so.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference.projection import projection
from ops.models import weights
from ops.models.entry import ModelEntry, checked_name
from ops.models.fine_tuned import Arguments, FineTuned, Loss, read_training
from ops.models.frame_set_pixels import StoredSet, StoredSets, store_sets
from ops.models.loading import load
from ops.models.pm_k_loss import ProjectedLoss
from ops.models.pm_k_trainer import Trainer
from ops.models.registry import list_models, read_model, register
from ops.models.seeding import keyed, seeded
from ops.shards import Manifest, has_manifest, read_manifest
from ops.storage import Root, open_root, paths

# Part of the training key: raise it when a change here alters the weights.
TRAINING_VERSION = "2"


def fine_tune(
    root: Root | str,
    catalog: Catalog,
    model: str,
    dataset: str,
    *,
    loss: Loss,
    name: str,
    epochs: int = 5,
    learning_rate: float = 1e-4,
    candidates: int | None = None,
    mix: float = 1.0,
    warm_up: int = 0,
    sets_per_step: int = 16,
    k: int = 10,
    held_out: float = 0.2,
    seed: int = 0,
    device: str = "cpu",
    replace: bool = False,
    log: Callable[[str], None] | None = None,
) -> tuple[ModelEntry, FineTuned]:
    """Fine-tune a model on sealed frame sets and register the result.

    If the registry already holds this training under this name, it is returned at once.

    Parameters
    ----------
    root : Root or str
        The storage root.
    catalog : Catalog
        Resolves the dataset's name.
    model : str
        The registered model to begin with. Its transform, label space and head stay.
    dataset : str
        Sealed frames, mined or official, or a reviewed set: then accepted frames alone are used.
    loss : {"plain", "pm_k"}
        Cross entropy of the anchors, or of the worst frame of every set.
    name : str
        Of the new model.
    epochs, learning_rate : int, float
        AdamW, its rate falling to 0 along a cosine. Whole sets are mirrored at random.
    candidates : int, optional
        Frames of a set that are compared, drawn anew every epoch; the anchor is always one. By
        default all. A step costs that many forward passes beside the ordinary one.
    mix : float
        Share of the worst frame's loss in the sum; the rest is the anchor's.
    warm_up : int
        Epochs at first on anchors alone.
    sets_per_step : int
        Sets whose frames make one step.
    k : int
        Frames further from the anchor are left out.
    held_out : float
        Share of the videos that is not trained on: by the videos' names alone, so that every
        model trained on a source is compared on the same unseen ones.
    seed : int
        Of the order of the sets, their mirroring, the candidates, and dropout.
    device : str
        ``cpu`` gives the same weights every time.
    replace : bool
        Whether `name` may be another model's.
    log : callable, optional
        Called with a line of text an epoch.

    Returns
    -------
    entry : ModelEntry
        Synthetic if the model or the dataset is.
    record : FineTuned
        Also stored, under the entry's `training`.

    Raises
    ------
    ShiftlakeError
        If an argument makes no sense, the model cannot be trained or has another label space, no
        set can be used, the loss is no longer finite, or `name` is another model's.
    """
    root = open_root(root)
    say = log or (lambda _: None)
    checked_name(name, model)
    arguments = _arguments(
        loss=loss, epochs=epochs, learning_rate=learning_rate, candidates=candidates, mix=mix,
        warm_up=warm_up, sets_per_step=sets_per_step, k=k, held_out=held_out, seed=seed,
    )  # fmt: skip
    base = read_model(root, model)
    _require_trainable(base)
    sealed = dataset if has_manifest(root, dataset) else catalog.dataset(dataset).name
    manifest = read_manifest(root, sealed)
    key = _training_key(base, manifest, arguments)
    if name in list_models(root) and (known := read_model(root, name)).training == key:
        if (record := read_training(root, key)) is not None:
            say(f"{name} is already trained so on {manifest.name}")
            return known, record
    elif name in list_models(root) and not replace:
        raise ShiftlakeError(
            "The name is another model's.",
            expected="a new name, or a model of the very same training",
            found=f"{name}: {read_model(root, name).note or read_model(root, name).reference}",
            where=root.at(paths.model(name)),
            remedy="choose another name; or replace it with --force",
        )
    network = load(root, base)
    judge = ProjectedLoss(projection(base, manifest, catalog.label_spaces))
    with tempfile.TemporaryDirectory(dir=root.scratch()) as folder:
        stored = store_sets(
            root, manifest, base.transform, Path(folder), k=k, knows=judge.knows
        )  # fmt: skip
        unseen = held_out_videos({each.video for each in stored.sets}, held_out)
        train = [each for each in stored.sets if each.video not in unseen]
        test = [each for each in stored.sets if each.video in unseen]
        if not train:
            raise _nothing(manifest, stored, test)
        say(f"{len(train)} sets to train on, {len(test)} held out, {len(stored.skipped)} skipped")
        trainer = Trainer(network, base, judge, stored, arguments, device)
        with seeded(seed):
            before = trainer.score(test)
            history = trainer.run(train, say)
            after = trainer.score(test)
        record = FineTuned(
            model=name,
            base=model,
            base_weights_sha256=base.weights.sha256 if base.weights else "",
            dataset=manifest.name,
            dataset_version=manifest.version,
            arguments=arguments,
            n_trained=len(train),
            n_held_out=len(test),
            held_out_videos=tuple(sorted(unseen)),
            skipped=stored.skipped,
            epochs=tuple(history),
            before=before,
            after=after,
        )
        how = {"plain": "anchors", "pm_k": "the worst frames"}[loss]
        entry = base.model_copy(
            update={
                "name": name,
                "weights": None,
                "parameters": None,
                "synthetic": base.synthetic or manifest.synthetic,
                "training": key,
                "fine_tuned_on": tuple(dict.fromkeys((*base.fine_tuned_on, manifest.name))),
                "origin": None,
                "normaliser": False,
                "note": f"{model} fine-tuned here on {how} of {manifest.name}",
            }
        )
        path = Path(folder) / "weights.safetensors"
        path.write_bytes(weights.canonical_bytes(network.cpu().eval()))
        # Before the entry: a model without its record would be trained again.
        root.write_json(paths.training(key), record.model_dump(mode="json"))
        return register(root, entry, path, replace=replace), record


def held_out_videos(videos: set[str], share: float) -> set[str]:
    """Videos that are not trained on.

    Parameters
    ----------
    videos : set of str
    share : float
        Rounded to whole videos; one at least of two or more, unless it is 0.
    """
    if not share or len(videos) < 2:
        return set()
    count = min(len(videos) - 1, max(1, round(share * len(videos))))
    return set(sorted(videos, key=lambda video: keyed("held out", video))[:count])


def _arguments(**given: object) -> Arguments:
    try:
        return Arguments.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        option = "--" + str(first["loc"][0]).replace("_", "-")
        raise ShiftlakeError(
            "A model cannot be fine-tuned with these arguments.",
            expected=first["msg"],
            found=first["input"],
            where=option,
            remedy="correct it; shiftlake finetune --help says what each means",
        ) from error


def _require_trainable(entry: ModelEntry) -> None:
    sealed = {"exported": "a torch.export program", "onnx": "an ONNX graph"}
    if entry.kind in sealed or entry.head != "softmax":
        raise ShiftlakeError(
            "The model cannot be fine-tuned.",
            expected="a network with its weights apart, and a softmax head",
            found=sealed.get(entry.kind, f"a {entry.head} head"),
            where=entry.name,
            remedy="register the architecture with a checkpoint: shiftlake model add",
        )


def _nothing(manifest: Manifest, stored: StoredSets, test: Sequence[StoredSet]) -> ShiftlakeError:
    reasons = sorted(set(stored.skipped.values()))
    return ShiftlakeError(
        "There is no frame set to train on.",
        expected="sets of one video or more that the model knows a label of",
        found=f"{len(test)} held out, {len(stored.skipped)} skipped"
        + (f": {'; '.join(reasons[:3])}" if reasons else ""),
        where=manifest.name,
        remedy="mine more videos, or hold out fewer of them",
    )


def _training_key(base: ModelEntry, manifest: Manifest, arguments: Arguments) -> str:
    parts = {
        "base": [base.weights.sha256 if base.weights else None, base.transform.hash,
                 base.label_space, base.class_map, base.reference, base.kwargs],
        "dataset": [manifest.name, manifest.version],
        "arguments": arguments.model_dump(mode="json"),
        "version": TRAINING_VERSION,
    }  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
