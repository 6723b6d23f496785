"""On the fly, an image that no reader can get is known when the dataset is sealed."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from rendering_parts import NO_COUNTS, lake_of, overlaid, packed, photograph, val_samples

from ops.errors import ShiftlakeError
from ops.rendering import decodable, open_dataset, render
from ops.shards import ShardDamaged, has_manifest, read_manifest

WHOLE = photograph(9, (500, 375), quality=95)
FILES = [
    photograph(1),
    WHOLE[: len(WHOLE) // 2],
    b"",
    packed(Image.new("RGB", (60_000, 1)), "PNG"),
    photograph(2),
]
FLY = [f"imagenet_c_on_the_fly/{name}" for name in ("contrast/2", "pixelate/1")]
STORED = [name.replace("on_the_fly", "rendered") for name in FLY]


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[bytes | None]:
    """What the check decodes."""
    seen: list[bytes | None] = []
    decode = decodable.decode

    def counted(data: bytes | None) -> Image.Image:
        seen.append(data)
        return decode(data)

    monkeypatch.setattr(decodable, "decode", counted)
    return seen


@pytest.mark.parametrize("workers", [1, 3])
def test_both_forms_count_and_name_the_same_failures(tmp_path: Path, workers: int) -> None:
    lake = lake_of(tmp_path, val_samples(FILES), per_shard=2)
    made = render(lake.root, lake.catalog, FLY, workers=workers)
    stored = render(lake.root, lake.catalog, STORED, workers=workers)
    for fly, twin in zip(made, stored, strict=True):
        assert fly.n_failed == twin.n_failed == len(fly.failed) == 3
        assert fly.failed == twin.failed
        assert (fly.n_samples, fly.n_classes) == (twin.n_samples, twin.n_classes)


def test_sequences_fail_alike(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, val_samples(FILES[:2]))
    names = [f"imagenet_p_{form}/rotate" for form in ("on_the_fly", "rendered")]
    fly, stored = render(lake.root, lake.catalog, names)
    assert fly.n_failed == 1
    assert fly.failed == stored.failed


def test_every_image_is_decoded_once_for_all_conditions_and_kinds(
    tmp_path: Path, decoded: list[bytes | None]
) -> None:
    lake = lake_of(tmp_path, val_samples(FILES), per_shard=2)
    names = [*FLY, "imagenet_p_on_the_fly/rotate"]
    told: list[tuple[str, int, int]] = []
    render(
        lake.root,
        lake.catalog,
        names,
        workers=1,
        progress=lambda *seen: told.append(seen),
    )
    assert sorted(decoded) == sorted(FILES)
    assert told == [("imagenet_1k/val", seen, 5) for seen in (2, 4, 5)]


def test_a_later_condition_takes_the_failures_from_the_seals(
    tmp_path: Path, decoded: list[bytes | None]
) -> None:
    lake = lake_of(tmp_path, val_samples(FILES))
    (first,) = render(lake.root, lake.catalog, FLY[:1])
    decoded.clear()
    (second,) = render(lake.root, lake.catalog, FLY[1:])
    assert decoded == []
    assert second.n_failed == 3
    (stored,) = render(lake.root, lake.catalog, STORED[1:])
    assert second.failed == stored.failed
    assert [each.key for each in first.failed] == [each.key for each in second.failed]


def test_another_way_to_prepare_is_checked_anew(
    tmp_path: Path, decoded: list[bytes | None]
) -> None:
    lake = lake_of(tmp_path, val_samples(FILES))
    render(lake.root, lake.catalog, FLY[:1])
    decoded.clear()
    wider = {**NO_COUNTS, "parameters": {"preset": "imagenet_299", "cropped": 299}}
    other = overlaid(lake, {"*": NO_COUNTS, "imagenet_c_on_the_fly/*": wider})
    (manifest,) = render(lake.root, other.catalog, FLY[1:])
    assert len(decoded) == len(FILES)
    # A line of pixels can be squeezed into a square, but not be given a shorter side of 256.
    assert manifest.n_failed == 2


def test_a_damaged_source_is_not_sealed(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, val_samples([photograph(1)]))
    entry = read_manifest(lake.root, "imagenet_1k/val").shards[0]
    path = lake.root.local_path(f"shards/imagenet_1k/val/{entry.name}")
    data = bytearray(path.read_bytes())
    data[700] ^= 1
    path.write_bytes(data)
    with pytest.raises(ShardDamaged, match=entry.name):
        render(lake.root, lake.catalog, FLY)
    assert not has_manifest(lake.root, FLY[0])


def test_a_reader_names_one_of_those_the_manifest_lists(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, val_samples(FILES[:2]))
    (manifest,) = render(lake.root, lake.catalog, FLY[:1])
    with pytest.raises(ShiftlakeError, match="a rendered set lists such samples") as caught:
        list(open_dataset(lake.root, FLY[0], catalog=lake.catalog))
    assert manifest.failed[0].key in str(caught.value.where)
