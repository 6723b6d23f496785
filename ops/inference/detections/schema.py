"""Columns of stored detections, and of the frames they were looked for in."""

from __future__ import annotations

import pyarrow as pa

BOXES_FILE = "detections.parquet"
FRAMES_FILE = "frames.parquet"
RECORD_FILE = "run.json"

# A row a box, in the order in which they were found or read: equal scores rank as they stand.
DETECTIONS = pa.schema(
    [
        ("sample_key", pa.string()),
        # In the dataset's label space.
        ("label", pa.int16()),
        # In [0, 1]; as it was given, since rounding would make ties.
        ("score", pa.float64()),
        # Pixels of the picture as it is displayed, continuous coordinates.
        ("xmin", pa.float64()),
        ("ymin", pa.float64()),
        ("xmax", pa.float64()),
        ("ymax", pa.float64()),
    ]
)

# A row a frame of the dataset, each exactly once, sorted by key.
FRAMES = pa.schema(
    [
        ("sample_key", pa.string()),
        # ok; decode_error, a picture that cannot be read; detector_error, one the detector gave
        # up on. In a frame that failed nothing was found.
        ("status", pa.string()),
        ("reason", pa.string()),
        ("n_boxes", pa.int32()),
    ]
)
