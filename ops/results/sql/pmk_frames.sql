-- One row a frame of a frame set and model, live from `predictions`: official sets, mined ones, and
-- as `reviewed_frame_sets` the accepted frames of a sealed review under their reviewed labels, from
-- what was predicted on the mined frames. An unreadable frame is wrong.
CREATE VIEW pmk_frames AS
SELECT
    model, benchmark, condition, run_id, dataset_version, frame_set, frame_offset, sample_key,
    CASE
        WHEN benchmark = 'ytbb_robust' THEN regexp_replace(source_key, '_[0-9]+$', '')
        ELSE source_key
    END AS video,
    labels, pred, correct IS true AS correct, rank_of_label, p_max, status, stale
FROM predictions
WHERE benchmark IN ('imagenet_vid_robust', 'ytbb_robust', 'frame_sets') AND frame_set IS NOT NULL
UNION ALL
SELECT
    p.model, 'reviewed_frame_sets', p.condition, p.run_id, d.version, p.frame_set, p.frame_offset,
    p.sample_key, p.source_key,
    -- A review that left the labels alone names none.
    coalesce(r.labels, p.labels), p.pred,
    coalesce(list_contains(coalesce(r.labels, p.labels), p.pred), false),
    CASE WHEN r.labels IS NULL OR r.labels = p.labels THEN p.rank_of_label END,
    p.p_max, p.status, p.stale
FROM predictions AS p
JOIN datasets AS d
    ON d.benchmark = 'reviewed_frame_sets' AND d.condition = p.condition
    AND d.parameters ->> '$.mined_version' = p.dataset_version
JOIN reviewed_frames AS r
    ON r.source = p.condition AND r.mined_version = p.dataset_version
    AND r.frozen_version = d.parameters ->> '$.frozen_version' AND r.sample_key = p.sample_key
WHERE p.benchmark = 'frame_sets' AND p.frame_set IS NOT NULL AND r.state = 'accepted';
