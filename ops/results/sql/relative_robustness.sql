-- Accuracy under shift above that of another model, in percentage points: tau of Taori et al.
-- (2020), where the model was made from that baseline by some intervention.
CREATE MACRO relative_robustness(baseline) AS TABLE
SELECT
    m.model, m.benchmark, m.condition, m.metric, m.variant,
    m.value AS accuracy, b.value AS baseline_accuracy,
    100 * (m.value - b.value) AS relative_robustness,
    m.synthetic OR b.synthetic AS synthetic, m.stale OR b.stale AS stale
FROM metrics AS m
JOIN metrics AS b USING (benchmark, condition, metric, variant)
WHERE b.model = baseline AND m.model <> baseline
    AND (metric IN ('top1', 'pm0', 'pm10')) AND NOT starts_with(variant, 'clean_')
    -- Behind a semicolon: some of the frames of a video benchmark.
    AND NOT contains(variant, '; ')
    AND (benchmark, condition) <> ('imagenet_1k', 'val');
