-- Accuracy of anchors, and of the worst frame within k of each, for k = 0 to 10.
CREATE VIEW pmk AS
SELECT
    model, benchmark, condition, TRY_CAST(metric[3:] AS INTEGER) AS frames_around, metric, variant,
    value, k, n, ci_lo, ci_hi, ci_method, synthetic, stale, run_id
FROM metrics
WHERE metric LIKE 'pm%';
