"""True boxes of a mined dataset as a COCO file, for detectors and tools that read these."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from ops.inference.detections.categories import category_id, class_names
from ops.inference.detections.framed import read_framed
from ops.storage import Root, open_root


def write_ground_truth(root: Root | str, dataset: str, file: BinaryIO) -> tuple[int, int]:
    """Write the frames and true boxes of a mined dataset in COCO's format.

    Parameters
    ----------
    root : Root or str
    dataset : str
        ``frame_sets/<source>``, or the source alone.
    file : binary file
        Open for writing.

    Returns
    -------
    n_images, n_boxes : int
        Images are numbered from 1 in the order of their keys, so the numbers follow from the
        dataset's version; `file_name` is the sample key. `frame_set`, `frame_offset` and
        `annotated` (whether boxes of the frame are known at all) are additions that COCO's tools
        pass over.

    Raises
    ------
    DatasetMissing
        If the dataset is not sealed.
    """
    framed = read_framed(open_root(root), dataset)
    text = io.TextIOWrapper(file, encoding="utf-8", write_through=True)
    names = class_names(framed.manifest.label_space)
    categories = [{"id": category_id(at), "name": name} for at, name in enumerate(names)]
    info = {
        "description": f"{framed.manifest.name}, version {framed.manifest.version}",
        "dataset": framed.manifest.name,
        "dataset_version": framed.manifest.version,
        "label_space": framed.manifest.label_space,
    }
    text.write(f'{{"info": {json.dumps(info)},\n"categories": {json.dumps(categories)},\n')
    n_images = _write_list(text, "images", _images(framed.frames))
    text.write(",\n")
    n_boxes = _write_list(text, "annotations", _annotations(framed.frames))
    text.write("}\n")
    text.flush()
    # The file is its owner's to close.
    text.detach()
    return n_images, n_boxes


def _write_list(text: io.TextIOWrapper, name: str, entries: Iterator[dict[str, Any]]) -> int:
    count = 0
    text.write(f'"{name}": [')
    for count, entry in enumerate(entries, 1):
        text.write(f"{',' if count > 1 else ''}\n{json.dumps(entry, ensure_ascii=False)}")
    text.write("]")
    return count


def _images(frames: pa.Table) -> Iterator[dict[str, Any]]:
    columns = ["sample_key", "width", "height", "frame_set", "frame_offset"]
    known = frames["boxes"].is_valid().to_pylist()
    at = 0
    for batch in frames.select(columns).to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            yield {"id": at + 1, "file_name": row.pop("sample_key"), **row, "annotated": known[at]}
            at += 1


def _annotations(frames: pa.Table) -> Iterator[dict[str, Any]]:
    at = image = 0
    for batch in frames.select(["boxes"]).to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            image += 1
            for box in row["boxes"] or ():
                at += 1
                width, height = box["xmax"] - box["xmin"], box["ymax"] - box["ymin"]
                yield {
                    "id": at,
                    "image_id": image,
                    "category_id": category_id(box["label"]),
                    "bbox": [box["xmin"], box["ymin"], width, height],
                    "area": width * height,
                    "iscrowd": 0,
                }
