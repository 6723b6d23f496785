-- The view `predictions` of a bundle: plain DuckDB, started in the bundle's folder, reads it.
-- The first file holds no row and every column.
CREATE VIEW predictions AS
SELECT
    p.run_id, p.model, p.benchmark, p.condition,
    p.benchmark || '/' || p.condition AS dataset,
    p.dataset_version, p.shard, p.sample_key, p.source_key, p.labels, p.pred, p.pred_masked,
    p.top5_idx, p.top5_logit, p.p_max, p.p_max_masked, p.top5_logit[1] AS max_logit, p.logsumexp,
    p.entropy, p.rank_of_label, p.correct, p.correct5, p.correct_masked, p.masks, p.frame_set,
    p.frame_offset, p.flipped, p.top5_distance, p.zipf_distance, p.status, p.error, r.stale
FROM read_parquet(['tables/no_predictions.parquet', 'predictions/**/*.parquet'], union_by_name = true) AS p
JOIN runs AS r
    ON r.model = p.model AND r.benchmark = p.benchmark AND r.condition = p.condition
    AND r.run_id = p.run_id AND r.current;
