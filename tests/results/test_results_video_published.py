"""The video paper's tables 4 and 5, from sets in their proportions through stored rows and SQL."""

from __future__ import annotations

import pytest
from made_video import answers, frame, mined, reviewed

from ops.results import compute_metrics, connect

DOG, CAT = 8, 9


def _run(lake, sets):
    """A lake of sets, each given by its frames as (offset, picture type, right)."""
    frames, preds = [], []
    for i, around in enumerate(sets):
        for offset, kind, right in around:
            frames.append(frame(f"v{i:04}", 30, offset, [DOG], pict_type=kind))
            preds.append(DOG if right else CAT)
    lake.run(lake.model("m"), mined(lake, "vid", frames), answers(frames, preds))


def _pmk(lake, benchmark):
    with connect(lake.root) as con:
        rows = con.execute(
            """
            SELECT subset, max(k) FILTER (WHERE metric = 'pm0'),
                max(k) FILTER (WHERE metric = 'pm10'), n
            FROM pmk WHERE benchmark = $benchmark AND reading = 'with anchor'
            GROUP BY subset, n
            """,
            {"benchmark": benchmark},
        ).fetchall()
    return {subset: (pm0, pm10, n) for subset, pm0, pm10, n in rows}


def test_table_5_comes_out_of_rows_and_picture_types(lake, catalog):
    kinds = [
        # Type of the anchor, of its wrong neighbour (none, or the anchor itself is wrong), sets.
        *(("I", "P", 3), ("I", "", 2)),
        *(("P", "P", 82), ("P", "B", 20), ("P", "", 490), ("P", "anchor", 102)),
        *(("B", "B", 42), ("B", "P", 15), ("B", "", 286), ("B", "anchor", 67)),
    ]
    _run(
        lake,
        [
            [(0, anchor, wrong != "anchor"), (-2, "P", wrong != "P"), (1, "B", wrong != "B")]
            for anchor, wrong, sets in kinds
            for _ in range(sets)
        ],
    )
    compute_metrics(lake.root, catalog)
    found = _pmk(lake, "frame_sets")
    assert found["all frames"] == (940, 778, 1109)
    assert found["without I-frames"] == (935, 776, 1104)
    assert found["without P-frames"] == (348, 306, 415)
    assert found["without B-frames"] == (597, 512, 699)


@pytest.fixture
def table_4(lake):
    """1,314 anchors of which 1,109 are accepted, as Table 4 has them; how many of each kind."""
    kinds = {
        # Usable anchors: right throughout, wrong at a similar or at a dissimilar frame, wrong.
        "right": 740, "similar": 162, "dissimilar": 38, "wrong": 169,
        # Anchors that are not.
        "bad, right": 102, "bad, flips": 13, "bad, wrong": 90,
    }  # fmt: skip
    sets = [kind for kind, n in kinds.items() for _ in range(n)]
    _run(
        lake,
        [
            [
                (0, "P", "wrong" not in kind),
                (-1, "P", kind not in ("similar", "bad, flips")),
                (1, "P", kind != "dissimilar"),
            ]
            for kind in sets
        ],
    )
    return lake, sets


def test_table_4_is_three_rows_over_the_same_predictions(table_4, catalog):
    lake, sets = table_4
    named = [f"v{i:04}/000030" for i in range(len(sets))]
    bad = tuple(name for name, kind in zip(named, sets, strict=True) if "bad" in kind)
    apart = [name for name, kind in zip(named, sets, strict=True) if kind == "dissimilar"]
    reviewed(lake, catalog, "vid", bad=bad, dissimilar=tuple(f"{n}/000031" for n in apart))
    compute_metrics(lake.root, catalog)
    found = _pmk(lake, "reviewed_frame_sets")
    assert found["all mined"] == (1055, 842, 1314)
    assert found["all pairs"] == (940, 740, 1109)
    assert found["all frames"] == (940, 778, 1109)
    assert _pmk(lake, "frame_sets")["all frames"] == found["all mined"]
    with connect(lake.root) as con:
        live = con.execute("SELECT benchmark, pmk_right, n FROM pmk_at(10) ORDER BY ALL").fetchall()
    assert live == [("frame_sets", 842, 1314), ("reviewed_frame_sets", 778, 1109)]
