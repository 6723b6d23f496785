"""Train the small network on sealed shards, so that a whole flow can be tried without a download.

The weights depend on the datasets' versions and the arguments alone: everything random is drawn
in one stream from one seed, and one thread adds everything up in one order.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from ops.catalog import Catalog
from ops.errors import ShiftlakeError
from ops.inference import prepare
from ops.models.entry import ModelEntry
from ops.models.registry import list_models, read_model, register
from ops.models.seeding import seeded
from ops.models.smallcnn import SmallCNN
from ops.models.transform import Transform
from ops.models.weights import canonical_bytes
from ops.shards import Manifest, read_manifest, read_shard
from ops.storage import Root

# Part of the training key: raise it when a change here alters the weights.
TRAINING_VERSION = "1"


def train_small_cnn(
    root: Root,
    catalog: Catalog,
    datasets: Sequence[str],
    *,
    name: str = "small_cnn",
    image_size: int = 64,
    width: int = 16,
    epochs: int = 16,
    batch_size: int = 32,
    learning_rate: float = 4e-3,
    seed: int = 0,
    log: Callable[[str], None] | None = None,
) -> ModelEntry:
    """Train a :class:`ops.models.smallcnn.SmallCNN` and register it.

    If the registry already holds this training under this name, that entry is returned at once.

    Parameters
    ----------
    root : Root
        The storage root.
    catalog : Catalog
        Resolves the datasets' names.
    datasets : sequence of str
        Sealed datasets of one label space. The outputs are the classes that occur in them, in
        the order of the label space. All images are held in memory at `image_size`.
    name : str
        Name in the registry.
    image_size : int
        Side of the input in pixels.
    width : int
        Channels of the first stage.
    epochs, batch_size, learning_rate, seed
        Of the training: AdamW, one cycle, labels smoothed by 0.05.
    log : callable or None
        Called with a line of text an epoch.

    Returns
    -------
    ModelEntry
        `synthetic` if one of the datasets is.

    Raises
    ------
    ShiftlakeError
        If a dataset is missing, the label spaces differ, or there are fewer than two classes.
    """
    manifests = [read_manifest(root, catalog.dataset(dataset).name) for dataset in datasets]
    key = _training_key(
        manifests,
        image_size=image_size,
        width=width,
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        seed=seed,
    )
    say = log or (lambda _: None)
    if name in list_models(root) and (known := read_model(root, name)).training == key:
        say(f"{name} is already trained on these datasets")
        return known
    transform = Transform(resize=image_size, crop=image_size, interpolation="bilinear")
    pixels, labels = _in_memory(root, manifests, transform)
    classes = sorted(set(labels))
    if len(classes) < 2:
        raise ShiftlakeError(
            "There is nothing to tell apart.",
            expected="labelled images of two classes or more",
            found=f"{len(labels)} images of {len(classes)} classes",
            where=", ".join(manifest.name for manifest in manifests),
            remedy="train on datasets with more classes",
        )
    targets = torch.tensor([classes.index(label) for label in labels])
    with seeded(seed):
        model = SmallCNN(len(classes), width)
        _fit(model, pixels, targets, transform, epochs, batch_size, learning_rate, say)
    entry = ModelEntry(
        name=name,
        kind="checkpoint",
        reference="ops.models.smallcnn:SmallCNN",
        kwargs={"num_classes": len(classes), "width": width},
        transform=transform,
        label_space=manifests[0].label_space,
        class_map=tuple(classes),
        synthetic=any(manifest.synthetic for manifest in manifests),
        training=key,
        note="trained here on " + ", ".join(manifest.name for manifest in manifests),
    )
    with tempfile.TemporaryDirectory(dir=root.scratch()) as folder:
        path = Path(folder) / "weights.safetensors"
        path.write_bytes(canonical_bytes(model))
        return register(root, entry, path)


def _training_key(manifests: list[Manifest], **arguments: float) -> str:
    parts = {
        "datasets": [[manifest.name, manifest.version] for manifest in manifests],
        "arguments": arguments,
        "version": TRAINING_VERSION,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _in_memory(
    root: Root, manifests: list[Manifest], transform: Transform
) -> tuple[torch.Tensor, list[int]]:
    spaces = {manifest.label_space for manifest in manifests}
    if len(spaces) != 1:
        raise ShiftlakeError(
            "One model cannot be trained on datasets of several label spaces.",
            expected="one label space",
            found=", ".join(sorted(spaces)) or "no dataset",
            where=", ".join(manifest.name for manifest in manifests),
            remedy="train one model for each",
        )
    images, labels = [], []
    for manifest in manifests:
        for shard in manifest.shards:
            for sample in read_shard(root, manifest, shard):
                image = np.empty((*transform.output_size, 3), dtype=np.uint8)
                accepted = sample.meta.get("labels", [])
                if accepted and prepare(sample.image, transform, image) is None:
                    images.append(image)
                    labels.append(int(accepted[0]))
    stacked = np.stack(images) if images else np.empty((0, *transform.output_size, 3), np.uint8)
    return torch.from_numpy(stacked).permute(0, 3, 1, 2), labels


def _fit(
    model: SmallCNN,
    pixels: torch.Tensor,
    targets: torch.Tensor,
    transform: Transform,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    say: Callable[[str], None],
) -> None:
    model.to(memory_format=torch.channels_last).train()  # type: ignore[call-overload]
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.02)
    steps = epochs * -(-len(pixels) // batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, learning_rate, steps, pct_start=0.2)
    mean = torch.tensor(transform.mean).view(1, 3, 1, 1)
    std = torch.tensor(transform.std).view(1, 3, 1, 1)
    for epoch in range(1, epochs + 1):
        right = 0
        for chosen in torch.randperm(len(pixels)).split(batch_size):  # type: ignore[no-untyped-call]
            images = _augmented(pixels[chosen].float() / 255)
            logits = model((images - mean) / std)
            loss = functional.cross_entropy(logits, targets[chosen], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            right += int((logits.argmax(dim=1) == targets[chosen]).sum())
        say(f"epoch {epoch} of {epochs}: {right / len(pixels):.1%} of augmented images right")
    model.eval()


def _augmented(images: torch.Tensor, shift: int = 6, jitter: float = 0.25) -> torch.Tensor:
    # Every draw has the size of the batch, so that the stream never depends on what was drawn.
    count, _, height, width = images.shape
    flip = torch.rand(count) < 0.5
    images = torch.where(flip[:, None, None, None], images.flip(3), images)
    padded = functional.pad(images, (shift,) * 4, mode="reflect")
    top, left = torch.randint(0, 2 * shift + 1, (2, count))
    rows = (top[:, None] + torch.arange(height))[:, :, None]
    columns = (left[:, None] + torch.arange(width))[:, None, :]
    which = torch.arange(count)[:, None, None]
    images = padded.permute(0, 2, 3, 1)[which, rows, columns].permute(0, 3, 1, 2)
    brightness, contrast, tint = (
        1 + (torch.rand(count, channels, 1, 1) * 2 - 1) * amount
        for channels, amount in ((1, jitter), (1, jitter), (3, jitter / 3))
    )
    level = images.mean(dim=(1, 2, 3), keepdim=True)
    return (((images - level) * contrast + level) * brightness * tint).clamp(0, 1)
