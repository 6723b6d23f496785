-- Samples that one of two models has right and the other wrong, on all that both were run on.
-- labels, and pred_a, pred_b: indices in the label space of the dataset, class_lists has names.
-- p_a, p_b: how sure each was of its answer. correct_a, correct_b: one of them is true.
-- `masked := true` compares the argmax over the benchmark's own classes, as papers do for
-- ImageNet-A and -R. Only rows on the same version of a dataset meet. A filter on dataset, benchmark
-- or condition opens only the files it names.
CREATE MACRO disagreements(a, b, masked := false) AS TABLE
SELECT
    dataset, benchmark, condition, sample_key, x.source_key, x.labels,
    x.answer AS pred_a, y.answer AS pred_b, x.p AS p_a, y.p AS p_b,
    x.is_right AS correct_a, y.is_right AS correct_b,
    x.stale OR y.stale AS stale
FROM (
    SELECT *,
        CASE WHEN masked THEN pred_masked ELSE pred END AS answer,
        CASE WHEN masked THEN p_max_masked ELSE p_max END AS p,
        CASE WHEN masked THEN correct_masked ELSE correct END AS is_right
    FROM predictions WHERE model = a
) AS x
JOIN (
    SELECT *,
        CASE WHEN masked THEN pred_masked ELSE pred END AS answer,
        CASE WHEN masked THEN p_max_masked ELSE p_max END AS p,
        CASE WHEN masked THEN correct_masked ELSE correct END AS is_right
    FROM predictions WHERE model = b
) AS y USING (dataset, benchmark, condition, dataset_version, sample_key)
WHERE x.is_right <> y.is_right;
