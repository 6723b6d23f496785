"""Checkpoints of the Hugging Face hub in timm's format: ``config.json`` and its weights.

The revision is resolved to a commit once, when the entry is made; the commit is what the entry
names, and everything the network needs of ``config.json`` is copied into the entry, so that an
evaluation never asks the hub.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from ops.errors import ShiftlakeError
from ops.models.entry import ModelEntry, Precision, checked_name
from ops.models.extras import extra
from ops.models.hub_weights import read_hub_weights
from ops.models.timm_source import refuse_files, transform_of, with_weights
from ops.models.weights import load_strictly

# What config.json says about the labels' names alone: long, and no part of the network.
_UNUSED = frozenset({"label_names", "label_descriptions", "license", "notes"})


def from_hub(
    reference: str,
    *,
    name: str | None = None,
    precision: Precision = "fp32",
    kwargs: dict[str, Any] | None = None,
) -> ModelEntry:
    """The entry of a checkpoint on the Hugging Face hub.

    Parameters
    ----------
    reference : str
        ``organisation/repository``, or ``organisation/repository@revision``: a branch, tag or
        commit; ``main`` by default.
    name : str or None
        Name in the registry; the repository's own name by default.
    precision : {"fp32", "bf16", "fp16"}
        Autocast type of the forward pass.
    kwargs : dict or None
        More arguments of timm's architecture.

    Returns
    -------
    ModelEntry
        Not yet registered.

    Raises
    ------
    ShiftlakeError
        If a model cannot have the name, timm or huggingface_hub is missing, the hub has no such
        repository or revision, the repository is not in timm's format, or timm would read other
        files while it builds the network.
    """
    repository, _, revision = reference.partition("@")
    if repository.count("/") != 1 or not all(repository.split("/")):
        raise ShiftlakeError(
            "This is no repository of the hub.",
            expected="organisation/repository, with @revision where it matters",
            found=repository,
            where=reference,
            remedy="copy the name from the head of the model's page",
        )
    name = checked_name(repository.rpartition("/")[2] if name is None else name, reference)
    refuse_files(kwargs or {}, reference)
    timm = extra("timm", "timm", reference)
    extra("timm.data", "timm", reference)
    hub = extra("huggingface_hub", "hugging_face", reference)
    try:
        commit = str(hub.HfApi().model_info(repository, revision=revision or None).sha)
        path = hub.hf_hub_download(repository, "config.json", revision=commit)
        config = json.loads(Path(path).read_text())
    except Exception as error:  # the hub's client and its transport raise what they like
        raise _unreachable(error, reference) from error
    if not isinstance(config, dict) or not isinstance(config.get("architecture"), str):
        found = "no architecture"
        if isinstance(config, dict) and isinstance(config.get("architectures"), list):
            found = f"a transformers model, {', '.join(map(str, config['architectures']))}"
        raise ShiftlakeError(
            "The repository holds no checkpoint in timm's format.",
            expected="a config.json with the name of a timm architecture",
            found=found,
            where=f"{reference}, config.json",
            remedy="write a callable that returns the network with plain logits, and register it "
            "as module:callable",
        )
    stated, architecture, own = timm.models.load_model_config_from_hf(f"{repository}@{commit}")
    refuse_files(own, f"{reference}, config.json")
    stated = {key: value for key, value in stated.items() if key not in _UNUSED}
    arguments = {
        "architecture": architecture,
        "pretrained_cfg": stated,
        "model_args": {**own, **(kwargs or {})},
    }
    resolved = timm.data.resolve_data_config({}, pretrained_cfg=stated, use_test_size=True)
    return ModelEntry(
        name=name,
        kind="hugging_face",
        reference=repository,
        revision=commit,
        # As it will be read again, with lists for tuples.
        kwargs=json.loads(json.dumps(arguments)),
        transform=transform_of(resolved, reference),
        precision=precision,
        note=f"timm {timm.__version__}",
    )


def create(entry: ModelEntry, *, pretrained: bool) -> torch.nn.Module:
    """Build the network of an entry; `pretrained` fetches the weights of its commit.

    Raises
    ------
    ShiftlakeError
        If timm cannot build it, the hub does not give the weights, or they would run code or do
        not fit.
    """
    timm = extra("timm", "timm", entry.reference)
    stated = entry.kwargs
    own = stated.get("model_args") or {}
    refuse_files(own, entry.reference)
    try:
        network: torch.nn.Module = timm.create_model(
            stated["architecture"],
            pretrained=False,
            pretrained_cfg=stated.get("pretrained_cfg") or None,
            **own,
        )
    except Exception as error:  # timm raises what it likes
        raise ShiftlakeError(
            "timm could not make the architecture of a repository.",
            expected="an architecture that this timm knows, and arguments it takes",
            found=f"{type(error).__name__}: {error}",
            where=f"{entry.reference}@{entry.revision}, timm {timm.__version__}",
            remedy="install the timm that wrote the checkpoint, or a later one",
        ) from error
    if not pretrained:
        return network
    address = f"{entry.reference}@{entry.revision}"
    try:
        config = stated.get("pretrained_cfg") or {}
        state = read_hub_weights(
            entry.reference, revision=entry.revision, filename=config.get("hf_hub_filename")
        )
        fetched = with_weights(stated["architecture"], config, state, own)
    except ShiftlakeError:
        raise
    except Exception as error:
        raise _unreachable(error, address) from error
    load_strictly(network, fetched.state_dict(), where=address)
    return network


def _unreachable(error: Exception, reference: str) -> ShiftlakeError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ShiftlakeError(
        "The hub did not give the model.",
        expected="a repository, revision and files that can be read",
        found=f"{type(error).__name__}: {lines[0] if lines else ''}",
        where=reference,
        remedy="check name, revision and network (HF_ENDPOINT for a mirror); set HF_TOKEN for a "
        "repository that is not public",
    )
