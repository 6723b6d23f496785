-- One row a frame set and model, live from `predictions`. `first_wrong` is the distance of the
-- nearest wrong frame, 0 where the anchor is wrong and NULL where none is: a set is right within k
-- where `first_wrong` is NULL or above k. `first_flip` is the same of sets whose anchor is right, the
-- smallest distance at which the answer flips; `flip_key` is that frame, of two the earlier. The
-- worst frame is the one whose label is ranked lowest, of equals the nearest, then the earlier; one
-- that could not be read is worse than any other.
CREATE VIEW pmk_sets AS
SELECT
    model, benchmark, condition, frame_set, video, n_neighbours, n_wrong_neighbours,
    anchor_right, first_wrong,
    CASE WHEN anchor_right THEN first_wrong END AS first_flip,
    CASE WHEN anchor_right THEN nearest_wrong END AS flip_key,
    worst.sample_key AS worst_key, worst.frame_offset AS worst_offset,
    anchor_pred, worst.pred AS worst_pred, stale, run_id, dataset_version
FROM (
    SELECT
        model, benchmark, condition, run_id, dataset_version, frame_set,
        any_value(video) AS video,
        count(*) - 1 AS n_neighbours,
        count(*) FILTER (WHERE NOT correct AND frame_offset <> 0) AS n_wrong_neighbours,
        bool_or(correct) FILTER (WHERE frame_offset = 0) AS anchor_right,
        min(abs(frame_offset)) FILTER (WHERE NOT correct) AS first_wrong,
        arg_min(sample_key, place) FILTER (WHERE NOT correct) AS nearest_wrong,
        any_value(pred) FILTER (WHERE frame_offset = 0) AS anchor_pred,
        -- As one value: the prediction of a frame that could not be read is NULL.
        arg_max(
            {sample_key: sample_key, frame_offset: frame_offset, pred: pred},
            rank * 100000 - place
        ) AS worst,
        bool_or(stale) AS stale
    FROM (
        SELECT *,
            -- From the anchor outwards, of two equally far the earlier first.
            2 * abs(frame_offset) + (frame_offset > 0)::INTEGER AS place,
            CASE
                WHEN status <> 'ok' THEN 40000
                WHEN rank_of_label IS NOT NULL THEN rank_of_label
                WHEN correct THEN 1 ELSE 2
            END::BIGINT AS rank
        FROM pmk_frames
    )
    GROUP BY ALL
);
