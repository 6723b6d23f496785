"""Every metric and interval, one small file each, named as the papers name them.

What belongs here: formulas over arrays and counts. What does not: SQL, Parquet, runs and
tables, which live in ``ops.results``; images and models, which no metric ever needs.
"""

from ops.metrics.auroc import auroc
from ops.metrics.average_precision import average_precision
from ops.metrics.bootstrap import keyed_generator, stratified_bootstrap
from ops.metrics.clopper_pearson import clopper_pearson
from ops.metrics.clustered import clustered_interval
from ops.metrics.distortion import average_accuracy_7
from ops.metrics.flips import flips, mean_over_10
from ops.metrics.fpr_at_recall import fpr_at_recall
from ops.metrics.imagenet_o import detection_metrics
from ops.metrics.masked import clean_companion, masked_prediction
from ops.metrics.per_class import mean_per_class_accuracy
from ops.metrics.pm_k import pm_k_correct
from ops.metrics.reassessed import real_correct
from ops.metrics.top5_distance import top5_distance
from ops.metrics.topk import top_k_correct

__all__ = [
    "auroc",
    "average_accuracy_7",
    "average_precision",
    "clean_companion",
    "clopper_pearson",
    "clustered_interval",
    "detection_metrics",
    "flips",
    "fpr_at_recall",
    "keyed_generator",
    "masked_prediction",
    "mean_over_10",
    "mean_per_class_accuracy",
    "pm_k_correct",
    "real_correct",
    "stratified_bootstrap",
    "top5_distance",
    "top_k_correct",
]
