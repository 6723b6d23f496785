-- pm-k of every model on every frame set, live from `predictions`, for any k: anchors that are right
-- alone, and with every frame within k of them. `missing` predictions make pm-k unknown, not wrong.
-- The interval of a share is clopper_pearson(pmk_right, n). `frames_around` is k, or as much as was
-- mined where that is less.
CREATE MACRO pmk_at(k) AS TABLE
WITH sets AS (
    SELECT
        model, benchmark, condition, run_id, frame_set,
        bool_or(frame_offset = 0 AND correct) AS anchor_right,
        bool_and(correct) AS whole_right
    FROM pmk_frames
    -- Frames that are right decide nothing, so most rows are never grouped.
    WHERE abs(frame_offset) <= k AND (frame_offset = 0 OR NOT correct)
    GROUP BY ALL
)
SELECT
    model, benchmark, condition, coalesce(least(k, mined_k), k) AS frames_around, n, pm0_right,
    CASE WHEN missing = 0 THEN whole END AS pmk_right,
    CASE WHEN missing = 0 THEN pm0_right / n END AS pm0,
    CASE WHEN missing = 0 THEN whole / n END AS pmk,
    missing, synthetic, stale, run_id, coalesce(reviewed_version, dataset_version) AS dataset_version
FROM (
    SELECT model, benchmark, condition, run_id,
        count(*) AS n, count(*) FILTER (WHERE anchor_right) AS pm0_right,
        count(*) FILTER (WHERE whole_right) AS whole
    FROM sets GROUP BY ALL
)
JOIN (
    -- Versions are asked of the seals: one column of every row less to read.
    SELECT
        model, run_id, synthetic, stale, dataset_version,
        n_expected - n_seen - n_error AS missing
    FROM runs WHERE current
) USING (model, run_id)
LEFT JOIN (
    SELECT benchmark, condition, version AS reviewed_version
    FROM datasets WHERE benchmark = 'reviewed_frame_sets'
) USING (benchmark, condition)
LEFT JOIN (
    SELECT condition, version AS dataset_version, TRY_CAST(parameters ->> '$.k' AS INTEGER) AS mined_k
    FROM datasets WHERE benchmark = 'frame_sets'
) USING (condition, dataset_version);
