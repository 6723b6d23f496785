-- Samples that one of two models has right and the other wrong, on whatever both were run on.
CREATE MACRO disagreements(a, b) AS TABLE
SELECT
    dataset, sample_key, source_key, labels,
    x.pred AS pred_a, y.pred AS pred_b, x.p_max AS p_a, y.p_max AS p_b,
    x.correct AS correct_a, y.correct AS correct_b
FROM predictions AS x
JOIN predictions AS y USING (benchmark, condition, dataset, dataset_version, sample_key, source_key, labels)
WHERE x.model = a AND y.model = b AND x.correct <> y.correct;
