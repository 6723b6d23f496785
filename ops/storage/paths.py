"""Where everything lies below the storage root: the only place that builds a path.

The layout is part of the contract, so that ordinary tools find their way::

    sources/<benchmark>/<file>                                an archive as published
    sources/<benchmark>/<file>.receipt.json                   where it came from, and its hashes
    shards/<benchmark>/<condition>/<shard>.tar                WebDataset shards
    shards/<benchmark>/<condition>/manifest.json              the seal, written last
    models/<model>.json, models/weights/<sha256>.<suffix>     the registry
    models/training/<key>.json                                how weights came about that were
                                                              trained here on frame sets
    predictions/<model>/<benchmark>/<condition>/<key>/        a Parquet file a shard; run.json last
    predictions/<model>/<benchmark>/<condition>/<key>/logits/ where asked for, one a shard
    predictions/<model>/<benchmark>/<condition>/<key>/failure.json  why the last try failed
    video/<source>/mined/<version>/                           tables beside a set of mined frames
    video/<source>/reviews/<mined version>/                   decisions, a line each, only added to
    video/<source>/frozen/<version>/                          a review that others can cite
    detections/<model>/<benchmark>/<condition>/<key>/         boxes a detector found; run.json last
    results/                                                  metrics over all runs
    results/history/                                          every number ever measured, only
                                                              added to
    compacted/                                                predictions merged, and an index
    gates.yaml                                                which model may replace which
"""

from __future__ import annotations

UNSEALED = "unsealed-"


def source(benchmark: str, filename: str) -> str:
    """Path of a published archive, exactly as it was downloaded."""
    return f"sources/{benchmark}/{filename}"


def receipt(benchmark: str, filename: str) -> str:
    """Path of the receipt that stands beside a verified archive."""
    return f"sources/{benchmark}/{filename}.receipt.json"


def refused(benchmark: str, filename: str, sha256: str) -> str:
    """Path where a download that failed its check is kept aside."""
    return f"sources/refused/{benchmark}/{sha256[:12]}-{filename}"


def dataset(name: str) -> str:
    """Folder of a dataset's shards; `name` is ``<benchmark>/<condition>``."""
    return f"shards/{name}"


def manifest(name: str) -> str:
    """Path of the seal of a dataset."""
    return f"shards/{name}/manifest.json"


def shard(name: str, filename: str) -> str:
    """Path of one shard of a dataset."""
    return f"shards/{name}/{filename}"


def unsealed(name: str, version: str) -> str:
    """Folder of the notes on an unsealed build; gone once the dataset is sealed."""
    return f"shards/{name}/{UNSEALED}{version}"


def shard_record(name: str, version: str, filename: str) -> str:
    """Path of the note that one shard of an unsealed build is finished."""
    return f"{unsealed(name, version)}/{filename}.json"


def shard_part(name: str, version: str, filename: str = "") -> str:
    """Path of table rows that came out of a shard of an unsealed build, or of their folder."""
    return _below(f"{unsealed(name, version)}.parts", filename)


def model(name: str) -> str:
    """Path of a model's registry entry."""
    return f"models/{name}.json"


def weights(sha256: str, suffix: str) -> str:
    """Path of a weights file, named by its content; `suffix` has no dot."""
    return f"models/weights/{sha256}.{suffix}"


def training(key: str) -> str:
    """Path of the record of a training, named by the hash of what determined it."""
    return f"models/training/{key}.json"


def run(model_name: str, dataset_name: str, key: str) -> str:
    """Folder of one evaluation: a Parquet file per shard, and ``run.json`` written last."""
    return f"predictions/{model_name}/{dataset_name}/{key}"


def run_record(model_name: str, dataset_name: str, key: str) -> str:
    """Path of the seal of one evaluation."""
    return f"{run(model_name, dataset_name, key)}/run.json"


def logits(model_name: str, dataset_name: str, key: str) -> str:
    """Folder of the logits of one evaluation, a Parquet file per shard, where they are kept."""
    return f"{run(model_name, dataset_name, key)}/logits"


def failure(model_name: str, dataset_name: str, key: str) -> str:
    """Path of the note why an evaluation failed; gone once it succeeds."""
    return f"{run(model_name, dataset_name, key)}/failure.json"


def compacted(filename: str) -> str:
    """Path of a file that :mod:`ops.results.compaction` made; all of them can be made again."""
    return f"compacted/{filename}"


def results(filename: str) -> str:
    """Path of a table or document computed over all runs."""
    return f"results/{filename}"


def gates() -> str:
    """Path of the file in which people state gates and waivers."""
    return "gates.yaml"


def mined(source: str, version: str, filename: str = "") -> str:
    """Path of a table beside the mined frames of a source, or of the folder of all."""
    return _below(f"video/{source}/mined/{version}", filename)


def video() -> str:
    """Folder of what was made of video sources, a folder for each."""
    return "video"


def minings(source: str) -> str:
    """Folder of the tables of every mining of a source, by version."""
    return f"video/{source}/mined"


def reviews(source: str) -> str:
    """Folder of the decisions on every mining of a source, by version of the mining."""
    return f"video/{source}/reviews"


def review_events(source: str, mined_version: str) -> str:
    """Folder of the decisions people made on one mining of a source."""
    return f"video/{source}/reviews/{mined_version}"


def frozen(source: str, version: str = "", filename: str = "") -> str:
    """Path of a file of a frozen review, or of the folder of one or of all."""
    return _below(_below(f"video/{source}/frozen", version), filename)


def detections(model_name: str, dataset_name: str, key: str, filename: str = "") -> str:
    """Path of a file of the boxes a detector found in a dataset, or of their folder."""
    return _below(f"detections/{model_name}/{dataset_name}/{key}", filename)


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if name else folder
