"""Label rules and quirks, one class for each published layout; the catalog names them."""

from ops.shards.layouts.base import Ignored, Layout
from ops.shards.layouts.derived import RealLabels, SeveritySubset, ValSubset
from ops.shards.layouts.frame_sets import VidRobust, YtbbRobust
from ops.shards.layouts.imagenet import (
    FlatVal,
    ImageNetC,
    ImageNetO,
    ImageNetP,
    IntegerFolder,
    TrainNested,
    WnidFolder,
)
from ops.shards.layouts.own_labels import Caltech101, Caltech256, CifarBinary, Sun397

LAYOUTS: dict[str, type[Layout]] = {
    "flat_val": FlatVal,
    "train_nested": TrainNested,
    "integer_folder": IntegerFolder,
    "wnid_folder": WnidFolder,
    "imagenet_o": ImageNetO,
    "real_labels": RealLabels,
    "imagenet_c": ImageNetC,
    "imagenet_p": ImageNetP,
    "severity_subset": SeveritySubset,
    "val_subset": ValSubset,
    "vid_robust": VidRobust,
    "ytbb_robust": YtbbRobust,
    "cifar_binary": CifarBinary,
    "caltech_101": Caltech101,
    "caltech_256": Caltech256,
    "sun_397": Sun397,
}

__all__ = ["LAYOUTS", "Ignored", "Layout"]
