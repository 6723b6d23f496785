-- How often the prediction changes within each perturbation sequence, live from the rows.
-- A frame of a noise is compared with the first, clean frame, any other with the one before it. A
-- frame that could not be read agrees with no other. Each run's flip probability is the mean of
-- flips / pairs over its sequences.
CREATE VIEW flips AS
WITH sequences AS (
    SELECT
        model, benchmark, condition, run_id, source_key, frame_set,
        list(coalesce(pred, -1) ORDER BY frame_offset) AS preds
    FROM predictions
    WHERE benchmark IN ('imagenet_p', 'imagenet_p_rendered', 'imagenet_p_on_the_fly')
    GROUP BY ALL
)
SELECT
    s.model, s.benchmark, s.condition, s.source_key, s.frame_set, r.frame_reference,
    CASE r.frame_reference
        WHEN 'first' THEN len(list_filter(preds[2:], lambda p: p = -1 OR p <> preds[1]))
        WHEN 'previous' THEN len(
            list_filter(list_zip(preds[:-2], preds[2:]), lambda p: p[2] = -1 OR p[1] <> p[2])
        )
    END AS flips,
    len(preds) - 1 AS pairs,
    len(list_filter(preds, lambda p: p = -1)) AS unreadable,
    s.run_id, r.stale, r.synthetic
FROM sequences AS s
JOIN runs AS r
    ON r.model = s.model AND r.benchmark = s.benchmark AND r.condition = s.condition
    AND r.run_id = s.run_id AND r.current;
