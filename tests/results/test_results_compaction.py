"""Compaction changes no answer: what it made is used while it is right, and else ignored."""

import hashlib
import io
import shutil
from functools import cache

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_lake import Lake, decode_error, made_logits, perturbed, rows_of, sequence_rows

from ops.catalog import load
from ops.errors import ShiftlakeError
from ops.results import compute_metrics, connect
from ops.results import inventory as inventories
from ops.results.compaction import compact
from ops.results.compaction_index import EMPTY, read_index
from ops.storage import Root, open_root

SKETCH, FOG, TILT = "imagenet_sketch/clean", "imagenet_c/fog/3", "imagenet_p/tilt"
LABELS = [1, 2, 3, 4, 5, 6]
QUESTIONS = (
    "SELECT * FROM predictions ORDER BY model, dataset, sample_key",
    "SELECT * EXCLUDE (compacted) FROM runs ORDER BY model, dataset, run_id",
    "SELECT * FROM status WHERE state <> 'not built' ORDER BY ALL",
)
VIEWS = ("SELECT * FROM accuracy ORDER BY ALL", "SELECT * FROM flips ORDER BY ALL")
_catalog = cache(load)


def _answers(root, questions=QUESTIONS):
    with connect(root, catalog=_catalog(), threads=1) as con:
        return [con.execute(question).fetchall() for question in questions]


def _without_cache(root):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inventories, "read_index", lambda _: EMPTY)
        return _answers(root)


def _rows(seed):
    rows = rows_of(LABELS, made_logits(LABELS, seed))
    rows[seed % 6] = decode_error(rows[seed % 6])
    return rows


def _run(lake, model="net", dataset=SKETCH, weights="w1", seed=0, version="v1", **fields):
    entry = lake.model(model, weights=weights)
    return lake.run(
        entry, lake.dataset(dataset, 6, n_shards=3, version=version), _rows(seed), **fields
    )


def _full(lake):
    for seed, model in enumerate(("a", "b")):
        for dataset in (SKETCH, FOG):
            _run(lake, model, dataset, seed=seed)
        tilt = lake.dataset(TILT, 2, parameters=perturbed("tilt", 4))
        frames = [[1, 2, 3, 4, 5], [2, 1, 3, 4, 5], [2, 1, 3, 4, 5], []]
        lake.run(lake.model(model), tilt, sequence_rows([frames, frames[::-1]]))
    _run(lake, "b", "imagenet_a/clean", sealed=False, shards=1)


@pytest.fixture(scope="module")
def compacted(tmp_path_factory):
    """A lake that was compacted, to be copied. Do not change."""
    lake = Lake(open_root(tmp_path_factory.mktemp("compacted") / "lake"))
    _full(lake)
    compact(lake.root)
    return lake


@pytest.fixture
def copied(compacted, tmp_path):
    return _copied(compacted, tmp_path)


def _copied(compacted, folder):
    # With the times of change, as `cp -a` does: the index stays good.
    shutil.copytree(compacted.root.url, folder / "copy")
    return Lake(open_root(folder / "copy"))


def _opened(monkeypatch):
    """Paths below the root that are opened from now on."""
    opened = []
    for name in ("read_bytes", "local_copy"):
        original = getattr(Root, name)

        def recorded(self, rel, original=original):
            opened.append(rel)
            return original(self, rel)

        monkeypatch.setattr(Root, name, recorded)
    return opened


def test_all_answers_are_the_same_and_no_file_of_a_run_is_opened(lake, monkeypatch):
    _full(lake)
    before = _answers(lake.root, QUESTIONS + VIEWS)
    assert sum(map(len, before)) > 50
    done = compact(lake.root)
    assert (done.models, done.runs, done.merged, done.files, done.skipped) == (2, 6, 6, 6, ())
    opened = _opened(monkeypatch)
    assert _answers(lake.root, QUESTIONS + VIEWS) == before
    assert [name for name in opened if name.startswith("predictions/")] == []
    assert [name for name in opened if name.endswith("-0.parquet")]
    lake.root.remove_folder("compacted")
    assert _answers(lake.root, QUESTIONS + VIEWS) == before


def test_compacting_again_writes_no_row_and_the_same_index(lake):
    _full(lake)
    compact(lake.root)
    made = {name: lake.root.read_bytes(name) for name in lake.root.list("compacted")}
    again = compact(lake.root)
    assert (again.merged, again.files, again.removed) == (0, 6, 0)
    assert {name: lake.root.read_bytes(name) for name in lake.root.list("compacted")} == made


def test_merged_files_are_plain_parquet_with_the_rows_in_order(lake):
    key = _run(lake)
    compact(lake.root)
    (merged,) = (name for name in lake.root.list("compacted") if key in name)
    own = sorted(
        name for name in lake.root.list(f"predictions/net/{SKETCH}") if name.endswith("parquet")
    )
    parts = [pq.read_table(lake.root.local_path(name)) for name in own]
    assert len(parts) == 3
    assert pq.read_table(lake.root.local_path(merged)).equals(pa.concat_tables(parts))


def test_the_index_alone_needs_no_rows(lake):
    _full(lake)
    before = _answers(lake.root)
    done = compact(lake.root, rows=False)
    assert (done.runs, done.files, done.bytes) == (6, 0, 0)
    assert _answers(lake.root) == before


def test_a_model_may_be_compacted_alone_and_then_the_others(lake):
    _full(lake)
    before = _answers(lake.root)
    assert compact(lake.root, ["b"]).runs == 3
    assert set(read_index(lake.root).models) == {"b"}
    assert _answers(lake.root) == before
    assert compact(lake.root, ["a"]).merged == 3
    assert set(read_index(lake.root).models) == {"a", "b"}
    assert compact(lake.root).merged == 0
    with pytest.raises(ShiftlakeError, match=r"(?s)a, b.*nobody"):
        compact(lake.root, ["nobody"])


def _changes():
    return {
        "other weights": lambda lake: lake.model("a", weights="w2"),
        "evaluated with other weights": lambda lake: _run(lake, "a", weights="w2", seed=3),
        "evaluated once more": lambda lake: _run(
            lake, "a", seed=4, ended_at="2026-05-05T00:00:00+00:00"
        ),
        "dataset rebuilt": lambda lake: lake.dataset(SKETCH, 6, n_shards=3, version="v2"),
        "dataset gone": lambda lake: lake.root.remove(f"shards/{FOG}/manifest.json"),
        "entry gone": lambda lake: lake.root.remove("models/b.json"),
        "a damaged entry": lambda lake: lake.root.write_bytes("models/b.json", b"{"),
        "another dataset": lambda lake: _run(lake, "b", "imagenet_sketch/other", seed=5),
        "another model": lambda lake: _run(lake, "c", seed=6),
        "a model removed": lambda lake: lake.root.remove_folder("predictions/a"),
        "a part deleted": lambda lake: lake.root.remove(_own_files(lake)[0]),
        "a part cut": lambda lake: lake.root.write_bytes(_own_files(lake)[-1], b"PAR1"),
        "a seal damaged": lambda lake: lake.root.write_bytes(_seals(lake)[0], b"{}"),
        "begun, not finished": lambda lake: _run(
            lake, "a", "imagenet_r/clean", sealed=False, shards=2
        ),
        "the index cut": lambda lake: lake.root.write_bytes(
            "compacted/index.parquet", lake.root.read_bytes("compacted/index.parquet")[:-20]
        ),
        "merged rows cut": lambda lake: [
            lake.root.write_bytes(name, b"PAR1") for name in _merged(lake)[:1]
        ],
        "merged rows gone": lambda lake: [lake.root.remove(name) for name in _merged(lake)[:2]],
        "noted runs of another": lambda lake: [
            lake.root.write_bytes(name, b"x")
            for name in lake.root.list("compacted")
            if "/runs-" in name
        ],
        "compacted": lambda lake: compact(lake.root),
        "one compacted": lambda lake: compact(lake.root, ["b"], rows=False),
    }


def _own_files(lake):
    return [n for n in lake.root.list("predictions") if n.endswith(".parquet") and "/fog/" in n]


def _seals(lake):
    return [name for name in lake.root.list("predictions/b") if name.endswith("run.json")]


def _merged(lake):
    return [name for name in lake.root.list("compacted") if name.endswith("-0.parquet")]


@pytest.mark.parametrize("change", _changes())
def test_what_changes_after_compaction_is_seen_at_once(copied, change):
    _changes()[change](copied)
    found = _answers(copied.root)
    assert found == _without_cache(copied.root)
    compact(copied.root)
    assert _answers(copied.root) == found


@given(st.lists(st.sampled_from(sorted(_changes())), min_size=3, max_size=5))
@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_sequence_of_changes_and_compactions_changes_an_answer(
    compacted, tmp_path_factory, changes
):
    lake = _copied(compacted, tmp_path_factory.mktemp("changed"))
    for change in changes:
        try:
            _changes()[change](lake)
        except (FileNotFoundError, IndexError, ShiftlakeError):
            # An earlier change took away what this one is about.
            continue
    assert _answers(lake.root) == _without_cache(lake.root)


def test_rows_of_a_run_that_has_not_changed_are_used_though_its_model_has(copied, monkeypatch):
    _run(copied, "a", "imagenet_r/clean")
    opened = _opened(monkeypatch)
    _answers(copied.root)
    own = [n for n in opened if n.startswith("predictions/a") and n.endswith(".parquet")]
    assert {name.split("/")[2] for name in own} == {"imagenet_r"}


def test_a_foreign_file_is_not_merged(lake):
    key = _run(lake)
    path = f"predictions/net/{SKETCH}/{key}/part-000001.parquet"
    data = bytearray(lake.root.read_bytes(path))
    data[100] ^= 1
    lake.root.write_bytes(path, bytes(data))
    done = compact(lake.root)
    assert (done.merged, done.files) == (0, 0)
    assert done.skipped == (
        f"net/{SKETCH}: A file of predictions is not the one that was sealed. {lake.root.at(path)}",
    )


def test_large_runs_are_merged_into_several_files(lake, monkeypatch):
    monkeypatch.setattr("ops.results.compaction_rows.ROWS", 4)
    _full(lake)
    before = _answers(lake.root)
    assert compact(lake.root).files == 2 * (2 + 2 + 2)
    assert _answers(lake.root) == before


def test_what_no_run_needs_goes_with_a_later_compaction_a_day_after(lake, monkeypatch):
    _run(lake)
    compact(lake.root)
    lake.root.remove_folder(f"predictions/net/{SKETCH}")
    assert (compact(lake.root).files, len(_merged(lake))) == (0, 1)
    # Another machine may have just made it, and not yet said so.
    _run(lake, "other")
    assert (compact(lake.root).removed, len(_merged(lake))) == (0, 2)
    monkeypatch.setattr("ops.results.compaction._UNNAMED_S", -1)
    _run(lake, "third")
    assert compact(lake.root).removed > 0
    assert len(_merged(lake)) == 2


def test_merged_rows_that_were_deleted_are_made_again(copied):
    lost = _merged(copied)[0]
    before = copied.root.read_bytes(lost)
    copied.root.remove(lost)
    done = compact(copied.root)
    assert (done.merged, done.files) == (1, 6)
    assert copied.root.read_bytes(lost) == before


def test_rows_are_not_merged_onto_a_disk_that_is_nearly_full(lake, monkeypatch):
    _full(lake)
    before = _answers(lake.root)
    monkeypatch.setattr("ops.results.compaction._DISK_SHARE", 0.0)
    done = compact(lake.root)
    assert (done.runs, done.merged, done.files) == (6, 0, 0)
    (why,) = done.skipped
    assert why.startswith("rows of 6 runs: ")
    assert "are free" in why
    assert _answers(lake.root) == before


def test_computing_metrics_leaves_the_rows_compacted_and_writes_nothing_again(lake):
    _full(lake)
    compute_metrics(lake.root, _catalog())
    with connect(lake.root) as con:
        assert con.execute("SELECT DISTINCT compacted FROM runs").fetchall() == [(True,)]
    written = {name: lake.root.modified(name) for name in lake.root.list("")}
    compute_metrics(lake.root, _catalog())
    assert {name: lake.root.modified(name) for name in lake.root.list("")} == written


def test_metrics_are_the_same_where_nothing_can_be_compacted(lake, monkeypatch):
    _full(lake)
    expected = compute_metrics(lake.root, _catalog()).to_pylist()
    for folder in ("compacted", "results"):
        lake.root.remove_folder(folder)

    def full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr("ops.results.compaction_rows.write_rows", full)
    assert compute_metrics(lake.root, _catalog()).to_pylist() == expected
    assert _merged(lake) == []


def as_schema_1(lake, folder):
    """Rewrite a sealed run as the release before wrote it."""
    seal = lake.root.read_json(f"{folder}/run.json")
    for file in seal["files"]:
        table = pq.read_table(lake.root.local_path(f"{folder}/{file['name']}"))
        top = [logits[0] if logits else None for logits in table["top5_logit"].to_pylist()]
        table = table.append_column("max_logit", pa.array(top, pa.float32()))
        table = table.drop_columns(["flipped", "top5_distance", "zipf_distance"])
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        data = buffer.getvalue()
        lake.root.write_bytes(f"{folder}/{file['name']}", data)
        file |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    del seal["schema_version"]
    lake.root.write_json(f"{folder}/run.json", seal | {"code_version": "1"})


def test_rows_of_the_schema_before_are_shown_with_the_columns_of_today(lake):
    key = _run(lake, "old", seed=1)
    _run(lake, "new", seed=1)
    as_schema_1(lake, f"predictions/old/{SKETCH}/{key}")
    for _ in range(2):
        with connect(lake.root) as con:
            found = con.execute(
                "SELECT sample_key, pred, top5_idx, max_logit, p_max, masks, status, flipped "
                "FROM predictions WHERE model = $m ORDER BY sample_key",
                {"m": "old"},
            ).fetchall()
            now = con.execute(
                "SELECT sample_key, pred, top5_idx, max_logit, p_max, masks, status, flipped "
                "FROM predictions WHERE model = $m ORDER BY sample_key",
                {"m": "new"},
            ).fetchall()
            runs = con.execute(
                "SELECT model, schema_version, stale_reason FROM runs ORDER BY model DESC"
            ).fetchall()
        assert found == now
        assert len(found) == 6
        assert runs[0][:2] == ("old", "1")
        assert runs[0][2].startswith("code version changed (1 to ")
        assert runs[1][1:] == ("2", None)
        compact(lake.root)


def test_rows_of_a_newer_schema_are_left_out_and_said_to_be(lake):
    key = _run(lake, "tomorrow")
    _run(lake, "today")
    path = f"predictions/tomorrow/{SKETCH}/{key}/run.json"
    seal = lake.root.read_json(path)
    del seal["label_space"]
    lake.root.write_json(path, seal | {"schema_version": "3", "n_expected": {"rows": 6}})
    for _ in range(2):
        with connect(lake.root) as con:
            models = con.execute("SELECT DISTINCT model FROM predictions").fetchall()
            told = con.execute(
                "SELECT state, reason FROM status WHERE model = 'tomorrow' AND dataset = $d",
                {"d": SKETCH},
            ).fetchall()
        assert models == [("today",)]
        assert told == [
            (
                "newer",
                "evaluated by a newer release (rows of schema 3, this release reads 1 and 2): "
                "update Shiftlake, or evaluate again",
            )
        ]
        compact(lake.root)
