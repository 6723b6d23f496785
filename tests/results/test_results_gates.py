"""Gates: a planted regression, an identical candidate, waivers, and what is refused."""

import hashlib
import shutil
from datetime import date
from xml.etree import ElementTree

import numpy as np
import pytest
from made_lake import Lake, made_logits, rows_of

from ops.catalog.classes import ilsvrc
from ops.errors import ShiftlakeError
from ops.metrics.corruption import corruptions_15
from ops.results import connect, run_gates
from ops.results.comparison.measure import Difference
from ops.results.comparison.quantities import by_benchmark
from ops.results.comparison.runs import CurrentRuns
from ops.results.gates import closes
from ops.results.gates.file import GATE, read_gate
from ops.results.gates.junit import junit
from ops.results.gates.numbers import name_inputs, numbers
from ops.results.gates.reasons import why
from ops.results.gates.stated import example, parse_gates
from ops.results.gates.waivers import Waiver, waiver_for
from ops.results.inventory import take_inventory
from ops.storage import open_root, paths

TODAY = date(2026, 7, 1)
N = 800
CLASSES = 20
LOST = 24

GATES = """
gates:
  release:
    baseline:
      model: old
    candidates: ["new-*"]
    margins:
      imagenet_1k: 0.5
      imagenet_sketch: 0.5
"""
WAIVER = """
    waivers:
      - candidate: new-worse
        benchmark: imagenet_1k
        reason: tench are being relabelled
        by: Ada
        expires: 2026-07-15
"""
TENCH = 0


def answers(wrong=(), sure=()):
    """Rows of N images of 50 classes, all right but `wrong`; of these, `sure` the surest."""
    labels = [i % CLASSES for i in range(N)]
    logits = made_logits(labels, 0, 50.0)
    for i in wrong:
        logits[i, labels[i]] -= 100
        logits[i, 999] += 40 if i in sure else 4
    return rows_of(labels, logits)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A baseline, a candidate that lost 24 of 800 images (16 of them tench), and a twin."""
    lake = Lake(open_root(tmp_path_factory.mktemp("two") / "lake"))
    lost = [i for i in range(N) if i % CLASSES == TENCH][:16]
    lost += [i for i in range(N) if i % CLASSES in (7, 8)][:8]
    val, sketch = (lake.dataset(f"imagenet_{name}", N) for name in ("1k/val", "sketch/clean"))
    same = answers()
    for name in ("old", "new-twin", "new-worse"):
        entry = lake.model(name, weights="one" if name != "new-worse" else "two")
        lake.run(entry, val, answers(lost, sure=lost[3:4]) if name == "new-worse" else same)
        lake.run(entry, sketch, same)
    lake.lost = lost
    state(lake, GATES)
    return lake


@pytest.fixture
def lake_of_two(made, tmp_path):
    shutil.copytree(made.root.url, tmp_path / "lake")
    lake = Lake(open_root(tmp_path / "lake"))
    lake.lost = made.lost
    return lake


def state(lake, text):
    lake.root.write_bytes(paths.gates(), text.encode())


def judged(lake, catalog, today=TODAY, **only):
    table = run_gates(lake.root, catalog, today, **only)
    assert table.schema.equals(GATE)
    assert read_gate(lake.root).equals(table)
    return {(row["candidate"], row["benchmark"]): row for row in table.to_pylist()}


def test_a_planted_regression_is_red_and_names_its_class_and_images(lake_of_two, catalog):
    rows = judged(lake_of_two, catalog)
    row = rows["new-worse", "imagenet_1k"]
    assert row["verdict"] == "fail"
    assert (row["baseline_value"], row["candidate_value"]) == (1, 0.97)
    assert row["delta"] == pytest.approx(-0.03)
    assert (row["lost"], row["gained"], row["n"]) == (LOST, 0, N)
    assert row["ci_lo"] < row["delta"] < row["ci_hi"] < -row["margin"] == -0.005
    assert row["p_value"] == pytest.approx(2 / 2**LOST)
    # The better of two benchmarks, of which the other says nothing.
    assert row["p_holm"] == 2 * row["p_value"]
    worst = row["flipped_classes"][0]
    assert (worst["class_index"], worst["name"]) == (TENCH, ilsvrc().names[TENCH])
    assert (worst["n"], worst["lost"], worst["gained"]) == (40, 16, 0)
    assert [each["lost"] for each in row["flipped_classes"]] == [16, 4, 4]
    assert len(row["flipped_samples"]) == LOST
    assert row["flipped_samples"][0] == f"s{lake_of_two.lost[3]:08}"
    assert set(row["flipped_samples"]) <= {f"s{i:08}" for i in lake_of_two.lost}
    assert "3.00 points lost, more than the margin of 0.50, significant" in row["reason"]
    # The other benchmark, and the other candidate, are as before.
    assert rows["new-worse", "imagenet_sketch"]["verdict"] == "pass"
    assert {rows["new-twin", name]["verdict"] for name in ("imagenet_1k", "imagenet_sketch")} == {
        "pass"
    }
    assert closes(rows.values())
    with connect(lake_of_two.root) as connection:
        found = connection.execute("SELECT candidate FROM gate WHERE verdict = 'fail'").fetchall()
    assert found == [("new-worse",)]


def test_an_identical_candidate_passes_where_the_images_are_enough_to_say_so(lake_of_two, catalog):
    row = judged(lake_of_two, catalog)["new-twin", "imagenet_1k"]
    assert row["delta"] == 0
    # Even of no difference, 800 images only say that it is less than half a point.
    assert -row["ci_lo"] == pytest.approx(3.84 / (N + 3.84), rel=1e-3)
    assert row["flipped_classes"] == row["flipped_samples"] == []
    state(lake_of_two, GATES.replace("imagenet_1k: 0.5", "imagenet_1k: 0.1"))
    row = judged(lake_of_two, catalog)["new-twin", "imagenet_1k"]
    assert row["verdict"] == "inconclusive"
    assert "a loss of up to 0.48 is possible" in row["reason"]
    own = [row]
    assert not closes(own)
    assert closes(own, strict=True)


def test_a_waiver_counts_until_its_last_day_and_is_named_after(lake_of_two, catalog):
    state(lake_of_two, GATES + WAIVER)
    row = judged(lake_of_two, catalog, date(2026, 7, 15))["new-worse", "imagenet_1k"]
    assert row["verdict"] == "waived"
    assert row["reason"].startswith("fail, waived by Ada until 2026-07-15 (tench are being")
    assert (row["waiver_by"], row["waiver_expires"]) == ("Ada", date(2026, 7, 15))
    assert row["flipped_classes"][0]["lost"] == 16
    assert not closes([row], strict=True)
    row = judged(lake_of_two, catalog, date(2026, 7, 16))["new-worse", "imagenet_1k"]
    assert row["verdict"] == "fail"
    assert "the waiver of Ada (tench are being relabelled) expired on 2026-07-15" in row["reason"]
    # A waiver of one benchmark is none of another, and a pass needs none.
    assert judged(lake_of_two, catalog)["new-worse", "imagenet_sketch"]["waiver_by"] is None


def test_of_several_waivers_the_longest_counts():
    def waiver(benchmark, day):
        text = {"candidate": "new-*", "reason": "r", "by": "Ada"}
        return Waiver(**text, benchmark=benchmark, expires=date(2026, 1, day))

    both = [waiver("imagenet_c", 3), waiver("imagenet_c/fog/*", 9)]
    assert waiver_for(both, "new-1", "imagenet_c", "fog/3") == both[1]
    assert waiver_for(both, "new-1", "imagenet_c", "snow/3") == both[0]
    assert waiver_for(both, "old", "imagenet_c", "fog/3") is None


def test_what_cannot_be_compared_is_missing_and_says_why(lake_of_two, catalog):
    state(lake_of_two, GATES + "      imagenet_c: 1.0\n      imagenet_a: 1.0\n")
    # Registered anew: its runs are of weights that are gone.
    lake_of_two.model("new-worse", weights="three")
    rows = judged(lake_of_two, catalog)
    row = rows["new-worse", "imagenet_1k"]
    assert row["verdict"] == "missing"
    assert "the run of new-worse on imagenet_1k/val is stale: weights changed" in row["reason"]
    row = rows["new-twin", "imagenet_c"]
    assert row["verdict"] == "missing"
    assert "and 74 more of 75" in row["reason"]
    assert (
        "neither old nor new-twin has a run on imagenet_a/clean"
        in (rows["new-twin", "imagenet_a"]["reason"])
    )
    assert closes([row])


def test_a_replaced_baseline_is_noticed(lake_of_two, catalog):
    pinned = hashlib.sha256(b"one").hexdigest()
    pin = f"model: old\n      weights_sha256: {pinned[:16]}"
    state(lake_of_two, GATES.replace("model: old", pin))
    assert judged(lake_of_two, catalog)["new-twin", "imagenet_1k"]["verdict"] == "pass"
    state(lake_of_two, GATES.replace("model: old", pin.replace(pinned[:16], "0123456789ab")))
    row = judged(lake_of_two, catalog)["new-twin", "imagenet_1k"]
    assert row["verdict"] == "missing"
    assert f"has weights {pinned[:12]}, the gate is about 0123456789ab" in row["reason"]
    state(lake_of_two, GATES.replace("model: old", "model: older"))
    row = judged(lake_of_two, catalog)["new-twin", "imagenet_1k"]
    assert row["reason"] == "the baseline older is not registered"


def test_numbers_of_the_same_runs_are_not_computed_again(lake_of_two, catalog, monkeypatch):
    before = judged(lake_of_two, catalog)

    def never(*args, **kwargs):
        raise AssertionError("measured again")

    monkeypatch.setattr("ops.results.gates.verdicts.differences", never)
    assert judged(lake_of_two, catalog) == before
    # Another margin is another verdict on the same numbers; another alpha is other numbers.
    state(lake_of_two, GATES.replace("0.5", "5.0"))
    assert judged(lake_of_two, catalog)["new-worse", "imagenet_1k"]["verdict"] == "pass"
    state(lake_of_two, GATES + "    alpha: 0.01\n")
    with pytest.raises(AssertionError, match="measured again"):
        judged(lake_of_two, catalog)


def test_rows_written_again_under_the_same_key_are_measured_again(lake_of_two, catalog):
    assert judged(lake_of_two, catalog)["new-twin", "imagenet_1k"]["verdict"] == "pass"
    val = lake_of_two.dataset("imagenet_1k/val", N)
    lake_of_two.run(lake_of_two.model("new-twin", weights="one"), val, answers(lake_of_two.lost))
    row = judged(lake_of_two, catalog)["new-twin", "imagenet_1k"]
    assert (row["verdict"], row["lost"]) == ("fail", LOST)


def test_what_is_measured_by_reassessed_labels_depends_on_their_version(lake_of_two, known):
    pairing = CurrentRuns(take_inventory(lake_of_two.root)).pair("old", "new-twin")
    real, own = known["imagenet_real"][0], known["imagenet_1k"][0]
    assert name_inputs(pairing, real, 0.05, "v1") != name_inputs(pairing, real, 0.05, "v2")
    assert name_inputs(pairing, own, 0.05, "v1") == name_inputs(pairing, own, 0.05, "v2")


def test_what_is_not_measured_is_judged_by_its_numbers_as_the_gate_is_stated_now(
    lake_of_two, catalog, monkeypatch
):
    before = judged(lake_of_two, catalog)["new-worse", "imagenet_1k"]
    assert before["verdict"] == "fail"
    only = {"candidate": "new-twin"}
    state(lake_of_two, GATES + WAIVER)
    row = judged(lake_of_two, catalog, **only)["new-worse", "imagenet_1k"]
    assert (row["verdict"], row["waiver_by"]) == ("waived", "Ada")
    assert row["delta"] == before["delta"]
    state(lake_of_two, GATES.replace("0.5", "5.0"))
    row = judged(lake_of_two, catalog, **only)["new-worse", "imagenet_1k"]
    assert (row["verdict"], row["margin"], row["waiver_by"]) == ("pass", 0.05, None)
    assert row["candidate_run_ids"] == before["candidate_run_ids"]
    # What the numbers do not answer is closed until it is measured.
    state(lake_of_two, GATES + "    alpha: 0.01\n")
    row = judged(lake_of_two, catalog, **only)["new-worse", "imagenet_1k"]
    assert (row["verdict"], row["delta"]) == ("missing", None)
    assert "not measured as the gate is stated now: shiftlake gate release" in row["reason"]


def test_a_missing_number_is_counted_lest_the_others_change_when_it_comes(lake_of_two, catalog):
    state(lake_of_two, GATES + "      imagenet_a: 0.5\n")
    row = judged(lake_of_two, catalog)["new-worse", "imagenet_1k"]
    assert row["p_holm"] == 3 * row["p_value"]
    assert f"p = {row['p_holm']:.2g} over 3 numbers" in row["reason"]
    anew = lake_of_two.dataset("imagenet_a/clean", N)
    for name, weights in (("old", "one"), ("new-worse", "two")):
        lake_of_two.run(lake_of_two.model(name, weights=weights), anew, answers())
    rows = judged(lake_of_two, catalog)
    assert rows["new-worse", "imagenet_a"]["verdict"] != "missing"
    assert rows["new-worse", "imagenet_1k"]["p_holm"] == row["p_holm"]


def test_a_waiver_accepts_a_loss_and_no_other_baseline_and_no_missing_run(lake_of_two, catalog):
    waiver = WAIVER.replace("new-worse", "new-*").replace("imagenet_1k", "'*'")
    more = "      imagenet_a: 0.5\n"
    state(lake_of_two, GATES + more + waiver)
    rows = judged(lake_of_two, catalog)
    assert rows["new-worse", "imagenet_1k"]["verdict"] == "waived"
    assert rows["new-worse", "imagenet_a"]["verdict"] == "missing"
    assert "accepts a loss, not a missing run" in rows["new-worse", "imagenet_a"]["reason"]
    state(lake_of_two, GATES + more + waiver + "        missing: true\n")
    row = judged(lake_of_two, catalog)["new-worse", "imagenet_a"]
    assert row["verdict"] == "waived"
    assert row["reason"].startswith("missing, waived by Ada")
    replaced = "model: old\n      weights_sha256: 0123456789ab"
    stated = (GATES + waiver + "        missing: true\n").replace("model: old", replaced)
    state(lake_of_two, stated)
    rows = judged(lake_of_two, catalog)
    assert {row["verdict"] for row in rows.values()} == {"missing"}
    # Nor where it is judged by what is stored.
    assert {
        row["verdict"] for row in judged(lake_of_two, catalog, candidate="new-twin").values()
    } == {"missing"}


def test_without_an_interval_nothing_is_ruled_out(known):
    quantity = known["imagenet_o"][0]
    nan = float("nan")
    found = Difference(quantity, 0.5, 0.5, nan, nan, "none", 1.0, "", 9, 9, None, None)
    row = numbers(found, "") | {"verdict": "inconclusive", "p_holm": 1.0}
    assert row["ci_lo"] is None
    assert row["ci_hi"] is None
    (stated,) = parse_gates(gate_with("imagenet_o: 1"), "gates.yaml", known)
    assert why(row, stated.demands[0], stated).startswith("no change; no interval")


def test_one_candidate_alone_leaves_the_numbers_of_others_as_they_are(lake_of_two, catalog):
    assert {name for name, _ in judged(lake_of_two, catalog, candidate="new-twin")} == {"new-twin"}
    assert len(judged(lake_of_two, catalog, gate="release")) == 4
    state(lake_of_two, GATES.replace("0.5", "5.0"))
    rows = judged(lake_of_two, catalog, candidate="new-twin")
    assert rows["new-twin", "imagenet_1k"]["margin"] == 0.05
    for only in ({"gate": "releas"}, {"candidate": "new-twins"}):
        with pytest.raises(ShiftlakeError, match=r"release|new-twin"):
            judged(lake_of_two, catalog, **only)


def test_what_else_differs_than_the_model_is_told(lake_of_two, catalog):
    path = next(name for name in lake_of_two.root.list("predictions/new-twin/imagenet_1k")
                if name.endswith("run.json"))  # fmt: skip
    record = lake_of_two.root.read_json(path)
    record["versions"] = {**record["versions"], "torch": "3", "pillow": "12"}
    record["device_name"] = "a faster one"
    lake_of_two.root.write_json(path, record)
    rows = judged(lake_of_two, catalog)
    changes = rows["new-twin", "imagenet_1k"]["environment_changes"]
    assert "torch 2 to 3" in changes
    assert "pillow none to 12" in changes
    assert "device name cpu to a faster one" in changes
    assert rows["new-twin", "imagenet_sketch"]["environment_changes"] == []


def test_corruptions_are_gated_together_and_name_the_condition_of_an_image(lake, catalog):
    n = 45
    labels = [i % 15 for i in range(n)]
    right = rows_of(labels, made_logits(labels, 0, 50.0, classes=15))
    wrong = rows_of(labels, made_logits(labels, 1, -50.0, classes=15))
    lost = set(np.random.default_rng(0).permutation(n)[:36].tolist())
    fog = [(wrong if i in lost else right)[i] for i in range(n)]
    for name in ("old", "new"):
        entry = lake.model(name, weights=name)
        for corruption in corruptions_15():
            rows = fog if (name, corruption) == ("new", "fog") else right
            manifest = lake.dataset(f"mini_imagenet_c/{corruption}/5", n, n_shards=1)
            lake.run(entry, manifest, rows)
    state(
        lake,
        "gates:\n  c:\n    baseline: {model: old}\n    candidates: [new]\n    margins:\n"
        "      mini_imagenet_c: 3\n      mini_imagenet_c/fog/5: 1\n"
        "      mini_imagenet_c/snow/5: 10\n",
    )
    rows = {row["condition"]: row for row in run_gates(lake.root, catalog, TODAY).to_pylist()}
    row = rows["all"]
    # An error of 80 % under one of 15 corruptions.
    assert row["candidate_value"] == pytest.approx(80 / 15)
    assert row["delta"] == pytest.approx(-80 / 15)
    assert row["better"] == "lower"
    assert row["ci_method"].startswith("paired bootstrap over source images")
    assert (row["n"], row["n_sources"], row["lost"]) == (15 * n, n, 36)
    half = 196 * np.sqrt(0.8 * 0.2 / n) / 15
    # And what photographs could add that are lost under the other 14, too: 45 may all miss them.
    unseen = (100 - 100 / 15) * (1 - 0.025 ** (1 / n))
    assert (row["ci_hi"] - row["ci_lo"]) / 2 - unseen == pytest.approx(half, rel=0.1)
    assert row["verdict"] == "fail"
    assert row["flipped_samples"][0].startswith("fog/5 s")
    assert row["flipped_classes"][0]["n"] == 15 * 3
    assert rows["fog/5"]["delta"] == -0.8
    assert " " not in rows["fog/5"]["flipped_samples"][0]
    assert rows["snow/5"]["verdict"] == "pass"


def test_no_gates_no_verdicts(lake, catalog):
    assert run_gates(lake.root, catalog, TODAY).num_rows == 0
    assert not lake.root.exists(paths.results("gate.parquet"))


@pytest.fixture(scope="module")
def known(catalog):
    return by_benchmark(catalog, {"distorted_cifar_100": "cifar_100/test"})


def test_the_example_is_a_gate(known):
    (stated,) = parse_gates(example(), "gates.yaml", known)
    assert stated.name == "release"
    assert [each.quantity.benchmark for each in stated.demands][:2] == ["imagenet_1k", "imagenetv2"]
    # Also what it only shows as a comment.
    text = "\n".join(
        line.replace("# ", "", 1) if line.lstrip().startswith(("# imagenet", "# weights")) else line
        for line in example().splitlines()
    )
    (stated,) = parse_gates(text, "gates.yaml", known)
    quantities = {each.quantity.name: each.margin for each in stated.demands}
    assert quantities["imagenet_c/all mce_alexnet_pct (alexnet)"] == 0.5
    assert quantities["imagenet_c/fog/3 top1 (unmasked)"] == 0.01
    assert quantities["imagenet_vid_robust/clean pm0 (with anchor)"] == 0.02
    assert quantities["imagenet_a/clean top1 (masked)"] == 0.015
    assert stated.gate.baseline.weights_sha256 == "11ad3fa6"


def gate_with(margins):
    return (
        "gates:\n  g:\n    baseline: {model: a}\n    candidates: [b]\n"
        f"    margins:\n      {margins}\n"
    )


@pytest.mark.parametrize(
    ("margins", "metric", "margin"),
    [
        (
            "imagenet_c: {points: 2, metric: relative_mce_alexnet_pct}",
            "relative_mce_alexnet_pct",
            2,
        ),
        ("imagenet_p: {points: 0.1, metric: mean_ut5d_10}", "mean_ut5d_10", 0.1),
        ("imagenet_p/tilt: {points: 0.1, metric: ut5d}", "ut5d", 0.1),
        ("imagenet_p: {points: 1}", "mean_flip_probability_10", 0.01),
    ],
)
def test_sums_over_images_of_any_unit_can_be_demanded(known, margins, metric, margin):
    (stated,) = parse_gates(gate_with(margins), "gates.yaml", known)
    ((quantity, found),) = ((each.quantity, each.margin) for each in stated.demands)
    assert (quantity.metric, found) == (metric, pytest.approx(margin))


@pytest.mark.parametrize(
    ("metric", "instead"),
    [("mfr_pct", "mean_flip_probability_10"), ("mean_uzipf_10", "mean_ut5d_10"), ("ece", "top1")],
)
def test_a_metric_that_pairs_no_images_is_refused_with_why_and_what_else(known, metric, instead):
    text = gate_with(f"imagenet_p: {{points: 1, metric: {metric}}}")
    with pytest.raises(ShiftlakeError, match=f"(?s)image by image.*{instead}.*{metric}: .*line 6"):
        parse_gates(text, "gates.yaml", known)


def test_a_benchmark_without_a_condition_is_all_of_its_different_images(known):
    (stated,) = parse_gates(gate_with("imagenetv2: 1"), "gates.yaml", known)
    assert [each.quantity.condition for each in stated.demands] == [
        "matched_frequency", "threshold07", "top_images",
    ]  # fmt: skip
    (stated,) = parse_gates(gate_with("distorted_cifar_100: 1"), "gates.yaml", known)
    assert {each.quantity.metric for each in stated.demands} == {"avg_top1_7"}
    text = gate_with("imagenet_o: {points: 1, metric: auroc, variant: energy}")
    (stated,) = parse_gates(text, "gates.yaml", known)
    assert stated.demands[0].quantity.name == "imagenet_o/clean auroc (energy)"
    text = gate_with("imagenet_p: {points: 1, metric: flip_probability, condition: snow}")
    (stated,) = parse_gates(text, "gates.yaml", known)
    assert stated.demands[0].quantity.weights == (("imagenet_p/snow", 1.0),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (gate_with("imagnet_a: 1"), ["line 6", "perhaps imagenet_a"]),
        (gate_with("imagenet_a: -1"), ["line 6: gates.g.margins.imagenet_a.points", "greater"]),
        (gate_with("imagenet_a: '1'"), ["line 6", "valid number"]),
        (gate_with("imagenet_a: {points: 1, metrik: top1}"), ["line 6", "metrik", "no such key"]),
        (gate_with("imagenet_a: {points: 1, metric: top2}"), ["line 6", "perhaps top5, top1"]),
        (gate_with("imagenet_a: {points: 1, variant: mask, metric: top1}"), ["line 6", "masked"]),
        (gate_with("imagenet_c/fog/9: 1"), ["line 6", "fog/3"]),
        (gate_with("imagenet_c: {points: 1, metric: top1}"), ["line 6", "a condition, such as"]),
        (gate_with("imagenet_a/clean: {points: 1, condition: clean}"), ["already names"]),
        (gate_with("imagenet_a: 1\n      imagenet_a: 2"), ["line 7", "is in line 6"]),
        (gate_with("imagenet_a: 1\n      imagenet_a/clean: 2"), ["line 7", "two margins"]),
        (gate_with("imagenet_a: [1"), ["line 7", "expected ',' or ']'"]),
        (gate_with("{}"), ["line 5: gates.g.margins", "at least 1"]),
        (gate_with("imagenet_a: 1") + "    alpha: 0.9\n", ["line 7: gates.g.alpha", "less than"]),
        (GATES + WAIVER.replace("        reason: tench are being relabelled\n", ""),
         ["line 12: gates.release.waivers.0.reason", "a reason"]),
        (GATES + WAIVER.replace("tench are being relabelled", "' '"), ["line 14", "at least 1"]),
        (GATES + WAIVER.replace("2026-07-15", "never"), ["line 16", "valid date"]),
        (GATES.replace("release:", "init:"), ["line 3", "command line"]),
        (GATES.replace("model: old", "weights_sha256: 01234567"), ["line 4", "1 more"]),
        (GATES.replace("model: old", "{model: a, weights_sha256: 01234567}").replace(
            "baseline:\n      {", "baseline: {"), ["line 4", "in quotes"]),
        ("gates: 3", ["line 1: gates", "dictionary"]),
        ("", ["line 1: the whole file", "dictionary"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(known, text, said):
    with pytest.raises(ShiftlakeError) as error:
        parse_gates(text, "lake/gates.yaml", known)
    for words in said:
        assert words in str(error.value), str(error.value)
    assert "lake/gates.yaml" in str(error.value)


def test_junit_counts_failures_errors_and_skipped(lake_of_two, catalog):
    state(lake_of_two, GATES + "      imagenet_a: 1.0\n" + WAIVER)
    rows = run_gates(lake_of_two.root, catalog, date(2026, 8, 1)).to_pylist()
    suites = ElementTree.fromstring(junit(rows))
    assert suites.attrib["tests"] == "6"
    assert (suites.attrib["failures"], suites.attrib["errors"]) == ("1", "2")
    assert [suite.attrib["name"] for suite in suites] == ["release: new-twin", "release: new-worse"]
    (failure,) = suites.iter("failure")
    assert "3.00 points lost" in failure.attrib["message"]
    assert "class: tench, lost 16 and gained 0 of 40" in failure.text
    assert "image: s" in failure.text
    rows = run_gates(lake_of_two.root, catalog, TODAY).to_pylist()
    suites = ElementTree.fromstring(junit(rows))
    assert (suites.attrib["failures"], suites.attrib["skipped"]) == ("0", "1")
    assert "waived by Ada" in next(suites.iter("skipped")).attrib["message"]
    state(lake_of_two, GATES.replace("0.5", "0.1"))
    rows = run_gates(lake_of_two.root, catalog, TODAY).to_pylist()
    assert ElementTree.fromstring(junit(rows)).attrib["failures"] == "1"
    assert ElementTree.fromstring(junit(rows, strict=True)).attrib["failures"] == "4"
