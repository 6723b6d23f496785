-- What two models have right and wrong in each class of every dataset that both were run on.
-- n: samples of the class. lost: only a has them right; gained: only b has. net = gained - lost, so
-- that b is worse where it is negative. Frames of a sequence count one by one.
-- `masked := true` compares the argmax over the benchmark's own classes, as papers do for
-- ImageNet-A and -R. A filter on dataset, benchmark or condition opens only the files it names.
CREATE MACRO flipped_classes(a, b, masked := false) AS TABLE
SELECT
    dataset, benchmark, condition, f.class_index, c.name, f.n, f.lost, f.gained,
    f.gained - f.lost AS net
FROM (
    SELECT
        dataset, benchmark, condition, x.labels[1] AS class_index, count(*) AS n,
        count(*) FILTER (WHERE x.is_right AND NOT y.is_right) AS lost,
        count(*) FILTER (WHERE y.is_right AND NOT x.is_right) AS gained
    FROM (
        SELECT *, CASE WHEN masked THEN correct_masked ELSE correct END AS is_right
        FROM predictions WHERE model = a
    ) AS x
    JOIN (
        SELECT *, CASE WHEN masked THEN correct_masked ELSE correct END AS is_right
        FROM predictions WHERE model = b
    ) AS y USING (dataset, benchmark, condition, dataset_version, sample_key)
    WHERE x.is_right IS NOT NULL AND y.is_right IS NOT NULL
    GROUP BY dataset, benchmark, condition, class_index
) AS f
LEFT JOIN (
    SELECT dataset, any_value(label_space) AS list FROM runs
    WHERE model = a AND current GROUP BY dataset
) AS r USING (dataset)
LEFT JOIN class_lists AS c ON c.list = r.list AND c.class_index = f.class_index;
