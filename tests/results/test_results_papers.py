"""Tables for papers: every number is the leaderboard's, and no name breaks the format."""

from __future__ import annotations

import csv
import io
import re

import pytest
from made_lake import Lake, made_logits, rows_of, val_name

from ops.catalog.classes import subset
from ops.errors import ShiftlakeError
from ops.results import compute_metrics, connect
from ops.results.papers import latex_escaped, table, timm_tables, without_timm_file
from ops.results.reference import Published
from ops.results.reference import rows_of as read_published
from ops.storage import open_root, paths

LABELS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]


@pytest.fixture(scope="module")
def small(tmp_path_factory, catalog):
    """Three models on the validation images, two of them on ImageNet-A. Do not change."""
    lake = Lake(open_root(tmp_path_factory.mktemp("papers") / "lake"))
    val = lake.dataset("imagenet_1k/val", 10)
    own = list(subset("imagenet_a"))[:10]
    adversarial = lake.dataset("imagenet_a/clean", 10, mask="imagenet_a")
    masks = ("imagenet_a", "imagenet_o", "imagenet_r")
    for seed, name in enumerate(("net_b", "net_a", "net_c")):
        entry = lake.model(name, f"w{seed}")
        logits = made_logits(LABELS, seed)
        lake.run(entry, val, rows_of(LABELS, logits, masks=masks, source=val_name))
        if name == "net_c":
            continue
        logits = made_logits(own, seed + 5)
        lake.run(entry, adversarial, rows_of(own, logits, own="imagenet_a"))
    entry = lake.root.read_json(paths.model("net_a"))
    lake.root.write_json(paths.model("net_a"), entry | {"parameters": 1_013_012_345})
    compute_metrics(lake.root, catalog)
    return lake


def leaderboard(lake, model, benchmark):
    with connect(lake.root) as connection:
        return connection.execute(
            "SELECT value_pct, ci_lo_pct, ci_hi_pct FROM leaderboard "
            "WHERE model = ? AND benchmark = ?",
            [model, benchmark],
        ).fetchone()


def test_timms_layout(small, catalog):
    files = timm_tables(small.root, catalog)
    assert set(files) == {
        "results-imagenet.csv",
        "results-imagenet-a.csv",
        "results-imagenet-a-clean.csv",
        "results-imagenet-r-clean.csv",
    }
    rows = list(csv.DictReader(io.StringIO(files["results-imagenet.csv"])))
    assert list(rows[0]) == [
        "model", "img_size", "top1", "top1_err", "top5", "top5_err", "param_count", "crop_pct",
        "interpolation",
    ]  # fmt: skip
    by_model = {row["model"]: row for row in rows}
    for name in ("net_a", "net_b"):
        row = by_model[name]
        assert float(row["top1"]) == pytest.approx(leaderboard(small, name, "imagenet_1k")[0])
        assert float(row["top1"]) + float(row["top1_err"]) == pytest.approx(100)
        assert (row["img_size"], row["crop_pct"], row["interpolation"]) == (
            "224",
            "0.875",
            "bilinear",
        )
    assert (by_model["net_a"]["param_count"], by_model["net_b"]["param_count"]) == ("1,013.01", "")
    assert '"1,013.01"' in files["results-imagenet.csv"]
    tops = [float(row["top1"]) for row in rows]
    assert tops == sorted(tops, reverse=True)


def test_our_files_are_read_as_timms_own(small, catalog):
    for name, text in timm_tables(small.root, catalog).items():
        file = "results_" + name.removeprefix("results-").removesuffix(".csv").replace("-", "_")
        rows = read_published(Published("reference-timm", file, text, name))
        assert {row["model"] for row in rows} >= {"net_a", "net_b"}
        with connect(small.root) as connection:
            found = connection.execute(
                "SELECT model, metric, value FROM metrics WHERE metric IN ('top1', 'top5') "
                "AND benchmark = ? AND condition = ? AND variant = ?",
                [rows[0][key] for key in ("benchmark", "condition", "variant")],
            ).fetchall()
        theirs = {(row["model"], row["metric"]): row["value"] for row in rows}
        assert theirs == {(m, k): pytest.approx(v, abs=5e-6) for m, k, v in found}


def test_generated_images_are_in_the_name_of_a_file(tmp_path, catalog):
    lake = Lake(open_root(tmp_path / "lake"))
    for name in ("imagenet_1k/val", "imagenet_c/fog/3"):
        dataset = lake.dataset(name, 10, synthetic=True)
        lake.run(lake.model("net"), dataset, rows_of(LABELS, made_logits(LABELS, 0)))
    compute_metrics(lake.root, catalog)
    assert set(timm_tables(lake.root, catalog, benchmarks=["imagenet_1k"])) == {
        "synthetic-results-imagenet.csv"
    }
    assert without_timm_file(lake.root, catalog) == ("imagenet_c",)


def test_one_benchmark_is_text_and_several_are_not(small, catalog):
    one = table(small.root, catalog, "timm", benchmarks=["imagenet_1k"], models=["net_a"])
    assert one.splitlines()[1].startswith("net_a,224,")
    companion = ["imagenet_1k/val/clean_200/imagenet_o"]
    (name,) = timm_tables(small.root, catalog, benchmarks=companion)
    assert name == "results-imagenet-1k-val-clean-200-imagenet-o.csv"
    with pytest.raises(ShiftlakeError, match=r"a file for each benchmark"):
        table(small.root, catalog, "timm")


def test_markdown_has_intervals_and_the_protocol(small, catalog):
    text = table(small.root, catalog, "markdown")
    value, lo, hi = leaderboard(small, "net_a", "imagenet_a")
    assert f"{value:.2f} [{lo:.2f}, {hi:.2f}]" in text
    assert "imagenet_a top-1: top1 (masked), in percent; n = 10; interval Clopper-Pearson." in text
    assert re.search(r"Input: .*224.*fp32", text)
    lines = text.splitlines()
    assert len({line.count("|") for line in lines[:4]}) == 1


def test_latex_can_be_set(small, catalog):
    text = table(small.root, catalog, "latex")
    value, lo, hi = leaderboard(small, "net_b", "imagenet_1k")
    assert rf"{value:.2f} {{\scriptsize [{lo:.2f}, {hi:.2f}]}}" in text
    assert r"net\_b & " in text
    assert text.count("{") == text.count("}")
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in rows} == {2}
    assert not re.search(r"(?<!\\)[_%#]", text)


def test_a_missing_cell_is_a_dash(small, catalog):
    text = table(small.root, catalog, "latex")
    (line,) = [line for line in text.splitlines() if line.startswith(r"net\_c")]
    assert line.endswith(r"& -- \\")
    text = table(small.root, catalog, "markdown")
    (line,) = [line for line in text.splitlines() if "| net_c" in line]
    assert line.endswith("| – |")


def test_csv_has_every_digit(small, catalog):
    rows = list(csv.DictReader(io.StringIO(table(small.root, catalog, "csv", models=["net_a"]))))
    assert {row["benchmark"] for row in rows} == {"imagenet_1k", "imagenet_a"}
    for row in rows:
        found = tuple(float(row[name]) for name in ("value_pct", "ci_lo_pct", "ci_hi_pct"))
        assert found == leaderboard(small, "net_a", row["benchmark"])
        assert row["synthetic"] == "false"


def test_synthetic_images_are_marked(lake, catalog):
    val = lake.dataset("imagenet_1k/val", 10, synthetic=True)
    lake.run(lake.model("net"), val, rows_of(LABELS, made_logits(LABELS, 0)))
    compute_metrics(lake.root, catalog)
    text = table(lake.root, catalog, "markdown")
    assert "*" in text.splitlines()[2]
    assert "these numbers say nothing" in text


def test_what_fits_nothing_is_refused(small, catalog):
    for format in ("timm", "csv"):
        with pytest.raises(ShiftlakeError, match="none that fits resnet"):
            table(small.root, catalog, format, models=["resnet*"])
    with pytest.raises(ShiftlakeError, match="no such format"):
        table(small.root, catalog, "word")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b & 50%", r"a\_b \& 50\%"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("#1 $x^2$ ~", r"\#1 \$x\textasciicircum{}2\$ \textasciitilde{}"),
        ("<a|b>", r"\textless{}a\textbar{}b\textgreater{}"),
    ],
)
def test_escaping(text, escaped):
    assert latex_escaped(text) == escaped
