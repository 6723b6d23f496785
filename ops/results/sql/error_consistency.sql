-- Error consistency of two models on every dataset that both were run on (Geirhos et al., 2020): how
-- far they err on the same images, beyond what their accuracies give by chance. kappa is 1 where the
-- errors are the same, 0 where they overlap as those of independent models do, with its interval;
-- NULL where both are always right or always wrong. observed, expected: share of images on which
-- both are right or both wrong, and by chance. kappa_over_max: kappa over the largest that the two
-- accuracies allow. Of a sequence or a set of frames the first or the anchor alone counts: frames of
-- one video are not independent. `masked := true` compares the argmax over the benchmark's own
-- classes, as papers do for ImageNet-A and -R. A filter on dataset, benchmark or condition opens only
-- the files it names.
CREATE MACRO error_consistency(a, b, masked := false) AS TABLE
SELECT
    dataset, benchmark, condition, n, both_right, only_a, only_b, both_wrong,
    e.observed, e.expected, e.kappa, e.lo, e.hi, e.kappa_over_max, stale
FROM (
    SELECT *, error_kappa(both_right, only_a, only_b, both_wrong) AS e
    FROM (
        SELECT
            dataset, benchmark, condition, count(*) AS n,
            count(*) FILTER (WHERE x.is_right AND y.is_right) AS both_right,
            count(*) FILTER (WHERE x.is_right AND NOT y.is_right) AS only_a,
            count(*) FILTER (WHERE y.is_right AND NOT x.is_right) AS only_b,
            count(*) FILTER (WHERE NOT x.is_right AND NOT y.is_right) AS both_wrong,
            bool_or(x.stale OR y.stale) AS stale
        FROM (
            SELECT *, CASE WHEN masked THEN correct_masked ELSE correct END AS is_right
            FROM predictions WHERE model = a AND coalesce(frame_offset, 0) = 0
        ) AS x
        JOIN (
            SELECT *, CASE WHEN masked THEN correct_masked ELSE correct END AS is_right
            FROM predictions WHERE model = b AND coalesce(frame_offset, 0) = 0
        ) AS y USING (dataset, benchmark, condition, dataset_version, sample_key)
        WHERE x.is_right IS NOT NULL AND y.is_right IS NOT NULL
        GROUP BY dataset, benchmark, condition
    )
);
