-- Accuracy under shift above that of another model, in percentage points: tau of Taori et al.
-- (2020), where the model was made from that baseline by some intervention.
CREATE MACRO relative_robustness(baseline) AS TABLE
SELECT
    m.model, m.benchmark, m.condition, m.metric, m.variant,
    m.value AS accuracy, b.value AS baseline_accuracy,
    100 * (m.value - b.value) AS relative_robustness,
    m.synthetic OR b.synthetic AS synthetic, m.stale OR b.stale AS stale,
    m.seen_in_training OR b.seen_in_training AS seen_in_training
FROM metrics AS m
JOIN metrics AS b USING (benchmark, condition, metric, variant)
WHERE b.model = baseline AND m.model <> baseline
    AND (metric IN ('top1', 'pm0') OR regexp_full_match(metric, 'pm([1-9]|10)')) AND NOT starts_with(variant, 'clean_')
    -- Behind a semicolon: some of the frames of a video benchmark.
    AND NOT contains(variant, '; ')
    AND (benchmark, condition) <> ('imagenet_1k', 'val')
-- pm-k for the largest k up to 10 alone.
QUALIFY metric IN ('top1', 'pm0') OR TRY_CAST(metric[3:] AS INTEGER) = max(TRY_CAST(metric[3:] AS INTEGER))
    OVER (PARTITION BY m.model, benchmark, condition, variant);
