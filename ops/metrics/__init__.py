"""Every metric and interval, one small file each, named as the papers name them.

What belongs here: formulas over arrays and counts. What does not: SQL, Parquet, runs and
tables, which live in ``ops.results``; images and models, which no metric ever needs.
"""

from ops.metrics.auroc import auroc
from ops.metrics.aurra import aurra
from ops.metrics.average_precision import average_precision
from ops.metrics.bootstrap import keyed_generator, stratified_bootstrap
from ops.metrics.ce import ce_pct, mce_pct
from ops.metrics.ce_severity_5 import ce_severity_5_pct, mce_severity_5_pct
from ops.metrics.clopper_pearson import clopper_pearson
from ops.metrics.clustered_bootstrap import forget_draws, resampled_means
from ops.metrics.clustered_interval import clustered_bootstrap, clustered_interval
from ops.metrics.confidence_histogram import confidence_histogram
from ops.metrics.corruption import (
    Normaliser,
    alexnet_errors,
    corruptions_15,
    corruptions_19,
    mean_error_pct,
)
from ops.metrics.distortion import average_accuracy_7
from ops.metrics.ece import ece
from ops.metrics.effective_robustness import effective_robustness
from ops.metrics.error_consistency import ErrorConsistency, error_consistency
from ops.metrics.flip_rate import mean_over_normaliser_pct, over_normaliser_pct
from ops.metrics.flips import flips, mean_over_10
from ops.metrics.fpr_at_recall import fpr_at_recall
from ops.metrics.imagenet_o import detection_metrics
from ops.metrics.masked import clean_companion, masked_prediction
from ops.metrics.outlier_scores import energy, max_logit, max_sigmoid, max_softmax
from ops.metrics.per_class import mean_per_class_accuracy
from ops.metrics.percentile_interval import percentile_interval
from ops.metrics.pm_k import pm_k_correct, pm_k_counts
from ops.metrics.pm_k_index import FrameSetIndex
from ops.metrics.pm_k_neighbours import mean_neighbour, random_neighbours
from ops.metrics.pm_k_offsets import offset_errors
from ops.metrics.reassessed import real_correct
from ops.metrics.relative_ce import relative_ce_pct, relative_mce_pct
from ops.metrics.relative_robustness import relative_robustness
from ops.metrics.reliability import reliability
from ops.metrics.rms_calib import rms_calib, rms_calib_legacy
from ops.metrics.top5_distance import top5_distance
from ops.metrics.zipf_distance import zipf_distance

__all__ = [
    "ErrorConsistency",
    "FrameSetIndex",
    "Normaliser",
    "alexnet_errors",
    "auroc",
    "aurra",
    "average_accuracy_7",
    "average_precision",
    "ce_pct",
    "ce_severity_5_pct",
    "clean_companion",
    "clopper_pearson",
    "clustered_bootstrap",
    "clustered_interval",
    "confidence_histogram",
    "corruptions_15",
    "corruptions_19",
    "detection_metrics",
    "ece",
    "effective_robustness",
    "energy",
    "error_consistency",
    "flips",
    "forget_draws",
    "fpr_at_recall",
    "keyed_generator",
    "masked_prediction",
    "max_logit",
    "max_sigmoid",
    "max_softmax",
    "mce_pct",
    "mce_severity_5_pct",
    "mean_error_pct",
    "mean_neighbour",
    "mean_over_10",
    "mean_over_normaliser_pct",
    "mean_per_class_accuracy",
    "offset_errors",
    "over_normaliser_pct",
    "percentile_interval",
    "pm_k_correct",
    "pm_k_counts",
    "random_neighbours",
    "real_correct",
    "relative_ce_pct",
    "relative_mce_pct",
    "relative_robustness",
    "reliability",
    "resampled_means",
    "rms_calib",
    "rms_calib_legacy",
    "stratified_bootstrap",
    "top5_distance",
    "zipf_distance",
]
