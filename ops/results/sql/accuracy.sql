-- Live accuracy with its exact (Clopper-Pearson, 95 %) interval, straight from the rows.
-- variant: unmasked = argmax over all classes; masked = over the benchmark's own classes;
-- clean_200/<mask> = clean validation images of the mask's classes under the same mask;
-- real = reassessed labels, images with an empty set left out.
CREATE VIEW accuracy AS
SELECT
    c.model, c.benchmark, c.condition, c.metric, c.variant,
    c.k / c.n AS value, c.k, c.n, i.lo AS ci_lo, i.hi AS ci_hi,
    c.run_id, r.dataset_version, r.stale, r.synthetic
FROM (
    SELECT *, clopper_pearson(k, n) AS i
    FROM counts
    WHERE k IS NOT NULL
) AS c
JOIN runs AS r ON r.model = c.model AND r.run_id = c.run_id AND r.current;
