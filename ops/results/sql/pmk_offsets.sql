-- Share of frames at one offset from their anchor that are wrong: k of the n sets that have a frame
-- there. `given` is 'anchor right', as in Figure 5 of the paper, or 'any anchor'.
CREATE VIEW pmk_offsets AS
SELECT
    model, benchmark, condition,
    CAST(split_part(variant, ', ', 1) AS INTEGER) AS frame_offset,
    split_part(split_part(variant, '; ', 1), ', ', 2) AS given,
    coalesce(nullif(split_part(variant, '; ', 2), ''), 'all frames') AS subset,
    value, k, n, ci_lo, ci_hi, ci_method, synthetic, stale, seen_in_training, run_id, dataset_version
FROM metrics
WHERE metric = 'pm_offset_error';
