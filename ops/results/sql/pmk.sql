-- Everything that is measured of frame sets: pm-0 to pm-k, the drop, the flip rate, neighbours.
-- `reading` says how it was counted, `subset` of which frames: 'all frames', or what follows the
-- semicolon of `variant`. `frames_around` is the k of pm-k, NULL for anything else; `widest` marks
-- the largest one up to 10, which is that of the drop: less where less was mined. Errors by offset
-- are in `pmk_offsets`.
CREATE VIEW pmk AS
SELECT
    model, benchmark, condition, frames_around, metric, variant, reading, subset,
    coalesce(
        frames_around = max(frames_around) FILTER (frames_around <= 10)
            OVER (PARTITION BY model, benchmark, condition, run_id, variant),
        false
    ) AS widest,
    value, k, n, ci_lo, ci_hi, ci_method, synthetic, stale, seen_in_training, run_id,
    dataset_version
FROM (
    SELECT *,
        TRY_CAST(metric[3:] AS INTEGER) AS frames_around,
        split_part(variant, '; ', 1) AS reading,
        coalesce(nullif(split_part(variant, '; ', 2), ''), 'all frames') AS subset
    FROM metrics
    WHERE metric LIKE 'pm%' AND metric <> 'pm_offset_error'
);
