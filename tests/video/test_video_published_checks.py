"""The published frame sets, sealed from a miniature archive, are what their checks say."""

import pytest

from ops.shards import Sample, write_dataset
from ops.storage import open_root
from ops.video.published_checks import check_published

JPEG = bytes.fromhex("ffd8ffe0")


def sample(name, offset, video="v", image=None):
    from io import BytesIO

    from PIL import Image

    if image is None:
        drawn = BytesIO()
        Image.new("RGB", (8, 8)).save(drawn, "JPEG")
        image = drawn.getvalue()
    meta = {
        "benchmark": "imagenet_vid_robust",
        "condition": "clean",
        "source_key": video,
        "source_file": f"{name}{offset}",
        "labels": [1],
        "format": "jpeg",
        "frame_set": name,
        "frame_offset": offset,
    }
    return Sample(f"{name}/{offset + 50:06d}", image, "jpg", None, meta)


def checked(folder, samples, per_shard=100):
    root = open_root(folder)
    name = "imagenet_vid_robust/clean"
    write_dataset(root, name, samples, label_space="imagenet_vid30", per_shard=per_shard)
    return {name: problems for name, (problems, _) in check_published(root, name).items()}


def test_whole_sets_pass_and_are_counted(tmp_path):
    samples = [sample("a", 0), sample("a", -10), sample("a", 10), sample("b", 0, "w")]
    assert checked(tmp_path, samples) == {"within_k": [], "one_video": [], "decodes": []}
    numbers = check_published(tmp_path, "imagenet_vid_robust/clean")
    assert numbers["within_k"][1] == {"k": 10, "anchors": 2, "pairs": 2}
    assert numbers["one_video"][1] == {"videos": 2}
    assert numbers["decodes"][1] == {"decoded": 4}


@pytest.mark.parametrize("offsets", [(1, 2), (0, 11)])
def test_a_set_without_its_anchor_or_with_a_frame_too_far_is_named(tmp_path, offsets):
    found = checked(tmp_path, [sample("a", offset) for offset in offsets])
    assert found["within_k"] == [f"a: offsets {list(offsets)}"]


def test_frames_of_another_video_and_a_set_cut_in_two_are_named(tmp_path):
    found = checked(tmp_path, [sample("a", 0), sample("a", 1, "w")])
    assert found["one_video"] == ["a: frames of ['v', 'w'] in 1 shards"]
    found = checked(tmp_path / "cut", [sample("a", 0), sample("a", 1)], per_shard=1)
    assert found["one_video"] == ["a: frames of ['v'] in 2 shards"]


def test_a_frame_that_does_not_decode_is_named(tmp_path):
    found = checked(tmp_path, [sample("a", 0), sample("a", 1, image=JPEG)])
    assert len(found["decodes"]) == 1
    assert found["decodes"][0].startswith("a/000051: ")
