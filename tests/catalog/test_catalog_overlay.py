"""What a user states over the catalog: it is merged where it belongs, and refused with a reason."""

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ops.catalog import load
from ops.errors import ShiftlakeError

A, A_TAR = "imagenet-a", "imagenet_a_tar"
HEX = "0123456789abcdef"
URLS = st.from_regex(r"https://[a-z]{3,9}\.org/[a-z]{1,9}\.tar", fullmatch=True)


@pytest.fixture
def overlay(tmp_path):
    def write(document, name="overlay.yaml"):
        path = tmp_path / name
        text = document if isinstance(document, str) else yaml.safe_dump(document)
        path.write_text(text)
        return str(path)

    return write


def one_file(facts, benchmark=A, file=A_TAR):
    return {"benchmarks": [{"id": benchmark, "files": [{"id": file, **facts}]}]}


def everything(catalog):
    return {
        (file.benchmark, file.id): file for b in catalog.benchmarks.values() for file in b.files
    }


def test_plain_values_and_facts_are_both_accepted(overlay):
    address = overlay(
        one_file({"url": "http://localhost/mini/a.tar", "bytes": {"value": 7}, "md5": "AB" * 16})
    )
    file = load(address).file(A, A_TAR)
    assert file.urls == ["http://localhost/mini/a.tar"]
    assert file.bytes.value == 7
    assert file.md5.value == "ab" * 16
    assert file.md5.status == "overlay"
    assert file.md5.source == ("overlay overlay.yaml",)
    assert file.name == "imagenet-a.tar", "a file keeps its name on disk"


def test_json_and_the_variable_and_a_file_url(overlay, monkeypatch):
    path = overlay(json.dumps(one_file({"bytes": 9})), "overlay.json")
    assert load(path).file(A, A_TAR).bytes.value == 9
    assert load(f"file://{path}").file(A, A_TAR).bytes.value == 9
    monkeypatch.setenv("SHIFTLAKE_CATALOG", path)
    assert load().file(A, A_TAR).bytes.value == 9
    monkeypatch.delenv("SHIFTLAKE_CATALOG")
    assert load().file(A, A_TAR).bytes.value == 687552512


def test_an_overlay_over_http(overlay, tmp_path):
    overlay(one_file({"bytes": 11}))
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        assert load(f"{base}/overlay.yaml").file(A, A_TAR).bytes.value == 11
        with pytest.raises(ShiftlakeError, match="404"):
            load(f"{base}/missing.yaml")
        server.shutdown()


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    place=st.sampled_from([(file.benchmark, file.id) for file in load().source_files()]),
    stated=st.one_of(
        st.tuples(st.just("bytes"), st.integers(0, 2**50)),
        st.tuples(st.just("md5"), st.text(HEX, min_size=32, max_size=32)),
        st.tuples(st.just("sha256"), st.text(HEX, min_size=64, max_size=64)),
        st.tuples(st.just("url"), URLS),
        st.tuples(st.just("note"), st.text(HEX, min_size=1)),
    ),
)
def test_one_stated_value_changes_one_file(overlay, place, stated):
    key, value = stated
    packaged = load()
    catalog = load(overlay(json.dumps(one_file({key: value}, *place))))
    before, after = everything(packaged), everything(catalog)
    changed = after.pop(place)
    assert getattr(changed, key) == value or getattr(changed, key).value == value
    del before[place]
    assert after == before
    assert catalog.datasets == packaged.datasets


def test_other_bytes_are_never_checked_against_the_hashes_of_the_published_file(overlay):
    address = overlay(
        one_file(
            {"url": "http://localhost/val.tar", "bytes": 5, "sha256": "c" * 64},
            "imagenet-1k",
            "ilsvrc2012_val",
        )
    )
    file = load(address).file("imagenet-1k", "ilsvrc2012_val")
    assert file.hashes == {"sha256": "c" * 64}
    assert file.urls == ["http://localhost/val.tar"]
    assert not file.manual, "an overlaid address needs no login at image-net.org"


def test_another_address_alone_keeps_the_published_hashes(overlay):
    address = overlay(one_file({"url": "http://localhost/a.tar"}))
    assert load(address).file(A, A_TAR).hashes == load().file(A, A_TAR).hashes


def test_a_missing_hash_can_be_added_to_the_published_ones(overlay):
    noise = load(overlay(one_file({"sha256": "d" * 64}, "imagenet-c", "imagenet_c_noise"))).file(
        "imagenet-c", "imagenet_c_noise"
    )
    assert noise.hashes == {"sha256": "d" * 64, "md5": "e80562d7f6c3f8834afb1ecf27252745"}
    assert len(noise.urls) == 2


def test_facts_of_an_alias_reach_the_file_it_stands_for(overlay):
    tar = "imagenet_vid_ytbb_robust_tar"
    address = overlay(one_file({"url": "http://localhost/v.tar.gz"}, "ytbb-robust", tar))
    assert load(address).file("imagenet-vid-robust", tar).urls == ["http://localhost/v.tar.gz"]
    both = {
        "benchmarks": [
            {"id": name, "files": [{"id": tar, "bytes": size}]}
            for name, size in (("imagenet-vid-robust", 1), ("ytbb-robust", 2))
        ]
    }
    with pytest.raises(ShiftlakeError, match=r"ytbb-robust / imagenet_vid_ytbb_robust_tar / bytes"):
        load(overlay(both))


def test_a_new_benchmark_with_a_file_and_a_dataset(overlay):
    catalog = load(
        overlay(
            {
                "benchmarks": [
                    {"id": "objectnet", "files": [{"id": "zip", "url": "https://x.org/o.zip"}]}
                ],
                "label_spaces": {"objectnet313": 313},
                "datasets": {
                    "objectnet/clean": {
                        "benchmark": "objectnet",
                        "files": ["zip"],
                        "layout": "wnid_folder",
                        "label_space": "objectnet313",
                    }
                },
            }
        )
    )
    (file,) = catalog.sources("objectnet")
    assert file.path == "sources/objectnet/o.zip"
    assert list(catalog.benchmarks)[-1] == "objectnet"
    assert len(catalog.benchmarks) == 23


def test_expected_counts_by_name_and_by_pattern(overlay):
    catalog = load(
        overlay(
            {
                "datasets": {
                    "imagenet_a": {"expected": 6, "expected_classes": 3},
                    "imagenet_c/fog/*": {"expected": 20, "per_class": None},
                }
            }
        )
    )
    assert catalog.dataset("imagenet_a/clean").expected == 6
    assert catalog.dataset("imagenet_a/clean").mask == "imagenet_a"
    fog = [catalog.dataset(f"imagenet_c/fog/{severity}") for severity in range(1, 6)]
    assert {(spec.expected, spec.per_class) for spec in fog} == {(20, None)}
    assert catalog.dataset("imagenet_c/snow/1").expected == 50000


def test_the_mirror_is_tried_first(monkeypatch, overlay):
    monkeypatch.setenv("SHIFTLAKE_MIRROR", "https://mirror.lab/imagenet/")
    address = overlay(one_file({"url": "http://localhost/a.tar"}))
    assert load(address).file(A, A_TAR).urls == [
        "https://mirror.lab/imagenet/imagenet-a/imagenet-a.tar",
        "http://localhost/a.tar",
    ]
    val = load().file("imagenet-1k", "ilsvrc2012_val")
    assert val.urls[0] == "https://mirror.lab/imagenet/imagenet-1k/ILSVRC2012_img_val.tar"
    assert not val.manual
    shared = load().file("ytbb-robust", "imagenet_vid_ytbb_robust_tar")
    assert "/imagenet-vid-robust/" in shared.urls[0]


def test_a_folder_can_be_the_mirror(monkeypatch, tmp_path):
    monkeypatch.setenv("SHIFTLAKE_MIRROR", str(tmp_path))
    first = load().file(A, A_TAR).urls[0]
    assert first == f"file://{tmp_path}/imagenet-a/imagenet-a.tar"


@pytest.mark.parametrize(
    ("document", "key", "expected", "found"),
    [
        (one_file({"bytes": "many"}), f"{A} / files / {A_TAR} / bytes", "integer", "many"),
        (one_file({"sha256": "abc"}), f"{A_TAR} / sha256", "64 hexadecimal digits", "abc"),
        (one_file({"sha265": "abc"}), f"{A_TAR} / sha265", "a key of the catalog", "sha265"),
        (one_file({"url": "a.tar"}), f"{A_TAR} / url", "http", "a.tar"),
        (one_file({"url": "http://a:99999/b.tar"}), f"{A_TAR} / url", "0-65535", "99999"),
        (one_file({"url": "http://[a/b.tar"}), f"{A_TAR} / url", "IPv6", "[a"),
        (one_file({"same_as": "x/y"}), f"{A_TAR} / same_as", "an id that exists", "x/y"),
        (one_file({}, "imagenet_a"), "imagenet_a", "perhaps imagenet-a", "unknown id"),
        (one_file({"bytes": 1}, file="new"), "files / new / name", "a file name", ""),
        ({"benchmark": []}, "benchmark", "benchmarks, ", "an unknown key"),
        ({"benchmarks": {"a": 1}}, "benchmarks", "a list of entries", "{'a': 1}"),
        ({"benchmarks": [{"files": []}]}, "benchmarks", "an entry with an id", "files"),
        ({"datasets": {"imagenet_a/clean": 5}}, "datasets / imagenet_a/clean", "a mapping", "5"),
        ({"datasets": {"imagenet_a/clean": {"expected": -1}}}, "expected", "greater than", "-1"),
        ({"datasets": {"imagenet_a/cleen": {"expected": 1}}}, "benchmark", "a value", "none"),
        ({"datasets": {"imagenet_a": {"files": ["b"]}}}, "files", "an id that exists", "b"),
        ({"datasets": {"nothing/*": {"expected": 1}}}, "nothing/*", "a matching dataset", "none"),
        ({"label_spaces": {"mine": "ten"}}, "label_spaces / mine", "a number of classes", "ten"),
        ("benchmarks: [", "the whole file", "YAML or JSON", "expected"),
        ("just words", "the whole file", "a mapping", "just words"),
    ],
)
def test_a_bad_overlay_names_file_key_expected_and_found(overlay, document, key, expected, found):
    with pytest.raises(ShiftlakeError) as caught:
        load(overlay(document))
    error = caught.value
    assert "overlay.yaml" in str(error.where)
    assert key in str(error.where)
    assert expected in str(error.expected)
    assert found in str(error.found)
    assert "SHIFTLAKE_CATALOG" in error.remedy


def test_a_missing_overlay_is_named_without_its_password(tmp_path):
    with pytest.raises(ShiftlakeError, match=r"gone\.yaml"):
        load(str(tmp_path / "gone.yaml"))
    with pytest.raises(ShiftlakeError) as caught:
        load("http://user:hunter2@127.0.0.1:9/o.yaml?token=hunter2")
    assert "hunter2" not in str(caught.value)


def test_one_parameter_of_a_dataset_changes_no_other(overlay):
    name = "imagenet_c_rendered/fog/3"
    address = overlay(
        json.dumps({"datasets": {"imagenet_c_rendered/*": {"parameters": {"seed": 4}}}})
    )
    before, after = load().dataset(name).parameters, load(address).dataset(name).parameters
    assert after == {**before, "seed": 4}
    assert before["cropped"] == after["cropped"] == 224
