"""The datasets: which exist, what they are built from, and how many samples must come out."""

from collections import Counter

import pytest

from ops.catalog import classes, load
from ops.errors import ShiftlakeError
from ops.perturbations import PERTURBATIONS, perturbations
from ops.rendering import is_rendered

BENCHMARK_CORRUPTIONS = [
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "defocus_blur",
    "glass_blur",
    "motion_blur",
    "zoom_blur",
    "snow",
    "frost",
    "fog",
    "brightness",
    "contrast",
    "elastic_transform",
    "pixelate",
    "jpeg_compression",
]
EXTRA_CORRUPTIONS = ["speckle_noise", "gaussian_blur", "spatter", "saturate"]

# Samples, classes, samples per class: the acceptance counts of the published sources.
COUNTS = {
    "imagenet_1k/val": (50000, 1000, 50),
    "imagenet_1k/train": (1281167, 1000, None),
    "imagenet_1k/val_mini": (5000, 1000, 5),
    "imagenetv2/matched_frequency": (10000, 1000, 10),
    "imagenetv2/threshold07": (10000, 1000, 10),
    "imagenetv2/top_images": (10000, 1000, 10),
    "imagenet_sketch/clean": (50889, 1000, None),
    "imagenet_a/clean": (7500, 200, None),
    "imagenet_o/clean": (2000, 200, None),
    "imagenet_r/clean": (30000, 200, None),
    "imagenet_real/clean": (50000, 1000, None),
    "imagenet_vid_robust/clean": (22179, 30, None),
    "ytbb_robust/clean": (38857, None, None),
    "cifar_100/test": (10000, 100, 100),
    "cifar_100/train": (50000, 100, 500),
    "caltech_101/clean": (8677, 101, None),
    "caltech_256/clean": (30607, 257, None),
    "sun_397/clean": (108754, 397, None),
}


@pytest.fixture(scope="module")
def catalog():
    return load()


def test_every_dataset_in_a_stable_order(catalog):
    corrupted = [
        f"imagenet_c/{corruption}/{severity}"
        for corruption in BENCHMARK_CORRUPTIONS + EXTRA_CORRUPTIONS
        for severity in range(1, 6)
    ]
    mini = [f"mini_imagenet_c/{corruption}/5" for corruption in BENCHMARK_CORRUPTIONS]
    sequences = [
        f"imagenet_p/{perturbation}"
        for perturbation in [
            "gaussian_noise",
            "shot_noise",
            "motion_blur",
            "zoom_blur",
            "snow",
            "brightness",
            "translate",
            "rotate",
            "tilt",
            "scale",
        ]
    ]
    single = list(COUNTS)
    published = single[:11] + corrupted + mini + sequences + single[11:]
    assert list(catalog.datasets)[: len(published)] == published
    assert not set(published) & set(rendered(catalog))
    assert len(catalog.datasets) == len(published) + len(rendered(catalog))


def rendered(catalog):
    """The datasets that are rendered here, and subsets of them."""
    of_it = {name for name, spec in catalog.datasets.items() if is_rendered(spec)}
    return [
        name
        for name, spec in catalog.datasets.items()
        if name in of_it or of_it & set(spec.derived_from)
    ]


def test_every_rendered_dataset(catalog):
    # First the ten that enter the mean, in its order.
    sequences = [
        *PERTURBATIONS,
        *(f"{name}_noise_{level}" for name in ("gaussian", "shot") for level in (2, 3)),
        *("speckle_noise", "speckle_noise_2", "speckle_noise_3"),
        *("gaussian_blur", "spatter", "shear"),
    ]
    corrupted = [
        f"{corruption}/{severity}"
        for corruption in BENCHMARK_CORRUPTIONS + EXTRA_CORRUPTIONS
        for severity in range(1, 6)
    ]
    distorted = [
        f"{distortion}/{level}"
        for distortion in ("gaussian_blur", "gaussian_noise")
        for level in range(1, 7)
    ]
    families = {
        "imagenet_c_rendered": corrupted,
        "mini_imagenet_c_rendered": [f"{name}/5" for name in BENCHMARK_CORRUPTIONS],
        "imagenet_p_rendered": sequences,
        "imagenet_c_on_the_fly": corrupted,
        "imagenet_p_on_the_fly": sequences,
    }
    for base in ("imagenet", "cifar_100", "caltech_101", "caltech_256", "sun_397"):
        families[f"distorted_{base}"] = distorted
    assert rendered(catalog) == [
        f"{family}/{condition}"
        for family, conditions in families.items()
        for condition in conditions
    ]


def test_a_rendered_dataset_has_the_counts_of_what_it_is_made_of(catalog):
    for name in rendered(catalog):
        spec = catalog.dataset(name)
        (source,) = [catalog.dataset(parent) for parent in spec.derived_from]
        assert spec.expected == source.expected, name
        assert spec.expected_classes == source.expected_classes, name
        assert spec.per_class == source.per_class, name
        assert spec.label_space == source.label_space, name
    mini = [name for name in rendered(catalog) if name.startswith("mini_imagenet_c_rendered")]
    assert sum(catalog.dataset(name).expected for name in mini) == 750_000


def test_the_catalog_says_of_a_sequence_what_its_renderer_makes(catalog):
    for spec in catalog.datasets.values():
        if spec.family in ("imagenet_p", "imagenet_p_rendered", "imagenet_p_on_the_fly"):
            made = perturbations()[spec.parameters.get("perturbation", spec.group)]
            assert spec.parameters["frames"] == made.frames, spec.name
            assert spec.parameters["reference"] == made.reference, spec.name
            assert spec.group == made.conditions[spec.parameters.get("difficulty", 1) - 1]


def test_a_set_on_the_fly_has_the_draws_and_the_pixels_of_the_stored_one(catalog):
    for name in rendered(catalog):
        if "_on_the_fly" in name:
            stored = catalog.dataset(name.replace("_on_the_fly", "_rendered"))
            assert catalog.dataset(name).parameters == stored.parameters
            assert catalog.dataset(name).files == stored.files


def test_frost_needs_its_photographs(catalog):
    assert [file.id for file in catalog.sources("imagenet_c_rendered/frost/3")] == [
        *(f"frost_texture_frost{number}" for number in range(1, 6)),
        "ilsvrc2012_val",
    ]
    assert [file.id for file in catalog.sources("imagenet_c_rendered/fog/3")] == ["ilsvrc2012_val"]


def test_expected_counts(catalog):
    for name, counts in COUNTS.items():
        spec = catalog.dataset(name)
        assert (spec.expected, spec.expected_classes, spec.per_class) == counts, name
    for spec in catalog.datasets.values():
        if spec.family in ("imagenet_c", "mini_imagenet_c"):
            assert (spec.expected, spec.expected_classes, spec.per_class) == (50000, 1000, 50)
        if spec.family == "imagenet_p":
            assert spec.expected is None, "the release's count is unconfirmed"


def test_counts_agree_with_the_benchmark_facts(catalog):
    def images(benchmark):
        return catalog.benchmark(benchmark).num_images.value

    totals = Counter()
    for spec in catalog.datasets.values():
        totals[spec.family] += spec.expected or 0
    assert totals["imagenet_c"] == sum(images("imagenet-c").values())
    assert totals["mini_imagenet_c"] == images("miniimagenet-c")
    assert totals["imagenetv2"] == sum(images("imagenetv2").values())
    assert totals["cifar_100"] == sum(images("cifar-100").values())
    for name in ("imagenet_sketch", "imagenet_a", "imagenet_o", "imagenet_r", "caltech_256"):
        assert totals[name] == images(name)
    assert totals["imagenet_vid_robust"] == images("imagenet_vid_robust")["unique_frames"]
    assert totals["ytbb_robust"] == sum(images("ytbb_robust").values())
    assert totals["caltech_101"] == images("caltech_101")["object_classes"]
    assert totals["sun_397"] == images("sun_397")["archive"]


def test_every_corruption_is_read_from_the_tar_that_holds_it(catalog):
    for spec in catalog.datasets.values():
        if spec.family in ("imagenet_c", "imagenet_p"):
            (file,) = catalog.sources(spec.name)
            held = file.corruptions if spec.family == "imagenet_c" else file.perturbations
            assert spec.group in held.value
    fog = catalog.dataset("imagenet_c/fog/3")
    assert (fog.group, fog.severity, fog.condition) == ("fog", 3, "fog/3")


def test_mini_imagenet_c_is_derived_and_needs_the_archive_of_its_parent(catalog):
    spec = catalog.dataset("mini_imagenet_c/frost/5")
    assert spec.derived_from == ("imagenet_c/frost/5",)
    assert spec.parameters == {"n_per_class": 50, "seed": 7600, "cropped": 224}
    assert [file.id for file in catalog.sources(spec.name)] == ["imagenet_c_weather"]


def test_sources_name_the_files_a_dataset_needs(catalog):
    def needs(name, **options):
        return [file.id for file in catalog.sources(name, **options)]

    assert needs("imagenet_1k/val") == ["ilsvrc2012_val"]
    assert needs("imagenet_1k/val", optional=True) == ["ilsvrc2012_val", "ilsvrc2012_devkit_t12"]
    assert needs("ytbb_robust") == [
        "imagenet_vid_ytbb_robust_tar",
        "ytbb_anchor_labels",
        "ytbb_pmk_labels",
        "ytbb_anchors_csv",
    ]
    assert catalog.sources("ytbb_robust")[0].benchmark == "imagenet-vid-robust"
    assert needs("cifar_100/train") == ["cifar_100_binary"]


def test_what_no_model_is_run_on(catalog):
    assert {spec.family for spec in catalog.datasets.values() if not spec.evaluate} == {
        "imagenet_1k",
        "imagenet_real",
        "cifar_100",
    }
    assert catalog.dataset("imagenet_1k/val").evaluate
    assert catalog.dataset("cifar_100/test").evaluate
    assert catalog.dataset("imagenet_real").joined_to == "imagenet_1k/val"


def test_masks_and_label_spaces(catalog):
    masked = {spec.mask: spec.name for spec in catalog.datasets.values() if spec.mask}
    assert masked == {mask: f"{mask}/clean" for mask in classes.MASKS}
    for space in classes.VIDEO_LABEL_SPACES:
        assert catalog.label_spaces[space] == len(classes.video(space).names)
    for spec in catalog.datasets.values():
        assert (spec.expected_classes or 0) <= catalog.label_spaces[spec.label_space]


def test_the_condition_may_be_left_out_only_where_there_is_one(catalog):
    assert catalog.dataset("imagenet_a").name == "imagenet_a/clean"
    with pytest.raises(ShiftlakeError, match="imagenetv2/matched_frequency"):
        catalog.dataset("imagenetv2")


def test_every_parameter_is_one_that_a_layout_reads(catalog):
    corruption = {"cropped", "mode", "preset", "seed", "key_dataset", "quality"}
    frames = {"cropped", "frames", "reference"}
    perturbation = {*frames, "perturbation", "difficulty"}
    perturbation |= {"mode", "seed", "key_dataset", "storage"}
    read = {
        "imagenet_c": {"cropped"},
        "imagenet_p": frames,
        "severity_subset": {"n_per_class", "seed", "cropped"},
        "val_subset": {"n_per_class", "seed"},
        "rendered_corruption": corruption,
        "corruption_on_the_fly": corruption,
        "rendered_perturbation": perturbation,
        "perturbation_on_the_fly": perturbation,
        "rendered_distortion": {"preset", "seed", "key_dataset"},
    }
    for spec in catalog.datasets.values():
        assert set(spec.parameters) == read.get(spec.layout, set()), spec.name


def test_class_data_has_a_fingerprint_of_its_own():
    names = ["ilsvrc", "ilsvrc_val_labels", *classes.MASKS, *classes.VIDEO_LABEL_SPACES]
    found = {classes.fingerprint(name) for name in names}
    assert len(found) == len(names)
    assert all(len(digest) == 64 for digest in found)
    with pytest.raises(ShiftlakeError, match="nonesuch"):
        classes.fingerprint("nonesuch")
