-- Everything that is measured of frame sets: pm-0 to pm-10, the drop, the flip rate, neighbours.
-- `reading` says how it was counted, `subset` of which frames: 'all frames', or what follows the
-- semicolon of `variant`. `frames_around` is the k of pm-k, NULL for anything else. Errors by offset
-- are in `pmk_offsets`.
CREATE VIEW pmk AS
SELECT
    model, benchmark, condition, TRY_CAST(metric[3:] AS INTEGER) AS frames_around, metric, variant,
    split_part(variant, '; ', 1) AS reading,
    coalesce(nullif(split_part(variant, '; ', 2), ''), 'all frames') AS subset,
    value, k, n, ci_lo, ci_hi, ci_method, synthetic, stale, run_id, dataset_version
FROM metrics
WHERE metric LIKE 'pm%' AND metric <> 'pm_offset_error';
