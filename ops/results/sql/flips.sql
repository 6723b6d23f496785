-- How often the prediction changes within each perturbation sequence, live from the rows.
-- A frame of a noise is compared with the first, clean frame, any other with the one before it. A
-- frame that could not be read agrees with no other. Each run's flip probability is the mean of
-- flips / pairs over its sequences, which is the mean of `flipped` over its rows: all have the same
-- number of frames. Distances are sums over the pairs, Zipf distances over those that were read;
-- all are NULL in rows of an older release, which did not keep them.
CREATE VIEW flips AS
WITH sequences AS (
    SELECT
        model, benchmark, condition, run_id, frame_set,
        any_value(source_key) AS source_key,
        count(*) FILTER (WHERE flipped) AS flips,
        count(flipped) AS pairs,
        count(*) FILTER (WHERE status <> 'ok') AS unreadable,
        sum(top5_distance)::BIGINT AS top5_distance,
        -- As whole numbers: so no order of the rows changes the sum.
        sum(round(zipf_distance::DOUBLE * 1048576)::BIGINT) / 1048576 AS zipf_distance,
        count(zipf_distance) AS zipf_pairs
    FROM predictions
    WHERE benchmark IN ('imagenet_p', 'imagenet_p_rendered', 'imagenet_p_on_the_fly')
    GROUP BY model, benchmark, condition, run_id, frame_set
)
SELECT
    s.model, s.benchmark, s.condition, s.source_key, s.frame_set, r.frame_reference,
    CASE WHEN s.pairs > 0 THEN s.flips END AS flips, r.frames - 1 AS pairs, s.unreadable,
    s.top5_distance, s.zipf_distance, s.zipf_pairs, s.run_id, r.stale, r.synthetic
FROM sequences AS s
JOIN runs AS r
    ON r.model = s.model AND r.benchmark = s.benchmark AND r.condition = s.condition
    AND r.run_id = s.run_id AND r.current;
