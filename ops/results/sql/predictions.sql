-- One row a sample: the current run of every model on every dataset.
-- The file names behind it carry model, benchmark, condition, run and staleness, so a filter on
-- them opens only the files it needs.
CREATE VIEW predictions AS
SELECT
    run_id, model, benchmark, condition,
    benchmark || '/' || condition AS dataset,
    dataset_version, shard, sample_key, source_key, labels, pred, pred_masked,
    top5_idx, top5_logit, p_max, p_max_masked, top5_logit[1] AS max_logit, logsumexp, entropy, rank_of_label,
    correct, correct5, correct_masked, masks, frame_set, frame_offset,
    flipped, top5_distance, zipf_distance, status, error, stale
FROM read_parquet(
    'shiftlake://predictions/**/*.parquet',
    hive_partitioning = true,
    hive_types = {
        'model': VARCHAR, 'benchmark': VARCHAR, 'condition': VARCHAR,
        'run_id': VARCHAR, 'stale': BOOLEAN
    }
);
