-- Accuracy under shift beyond what the accuracy without shift predicts (Taori et al., 2020).
-- For each pair of a shifted and an unshifted accuracy, a line is fitted through the logits of the
-- published models that were trained in the standard way and have at least 55 % on the validation
-- set; models with 0 or 100 % are left out. A pool of fewer than ten models gives no rows.
-- origin: lake for the models evaluated here, otherwise who published the result. in_pool: one of
-- the models the line is fitted through. effective_robustness is in percentage points, positive
-- above the line. ci_lo and ci_hi are of the model's own accuracy under shift, and carried over to
-- effective_robustness_lo and _hi; neither the accuracy without shift nor the line adds to them.
-- The anchors of the videos (pm0) are set against the accuracy on validation images of the same 30
-- or 24 classes, clean_30 and clean_24. Only published models have these: they are not measured
-- here, so no model that was evaluated here has a row of the two pairs.
CREATE VIEW effective_robustness AS
WITH pairs (benchmark, condition, metric, variant, id_benchmark, id_condition, id_metric, id_variant) AS (
    VALUES
        ('imagenetv2', 'matched_frequency', 'top1', 'unmasked', 'imagenet_1k', 'val', 'top1', 'unmasked'),
        ('imagenetv2', 'threshold07', 'top1', 'unmasked', 'imagenet_1k', 'val', 'top1', 'unmasked'),
        ('imagenetv2', 'top_images', 'top1', 'unmasked', 'imagenet_1k', 'val', 'top1', 'unmasked'),
        ('imagenet_sketch', 'clean', 'top1', 'unmasked', 'imagenet_1k', 'val', 'top1', 'unmasked'),
        ('imagenet_r', 'clean', 'top1', 'masked', 'imagenet_1k', 'val', 'top1', 'clean_200/imagenet_r'),
        ('imagenet_a', 'clean', 'top1', 'masked', 'imagenet_1k', 'val', 'top1', 'clean_200/imagenet_a'),
        ('imagenet_vid_robust', 'clean', 'pm0', 'with anchor', 'imagenet_1k', 'val', 'top1', 'clean_30/imagenet_vid_robust'),
        ('imagenet_vid_robust', 'clean', 'pm10', 'with anchor', 'imagenet_vid_robust', 'clean', 'pm0', 'with anchor'),
        ('ytbb_robust', 'clean', 'pm0', 'with anchor', 'imagenet_1k', 'val', 'top1', 'clean_24/ytbb_robust'),
        ('ytbb_robust', 'clean', 'pm10', 'with anchor', 'ytbb_robust', 'clean', 'pm0', 'with anchor')
),
published AS (
    SELECT
        p.*, o.source, o.revision, o.model, o.model_kind, o.image_size, o.n,
        o.value AS accuracy, i.value AS accuracy_id, o.synthetic,
        coalesce(o.model_kind = 'standard' AND v.value >= 0.55, false)
            AND o.value > 0 AND o.value < 1 AND i.value > 0 AND i.value < 1 AS in_pool
    FROM pairs AS p
    JOIN reference_results AS o USING (benchmark, condition, metric, variant)
    JOIN reference_results AS i
        ON i.benchmark = p.id_benchmark AND i.condition = p.id_condition
        AND i.metric = p.id_metric AND i.variant = p.id_variant
        AND i.source = o.source AND i.revision = o.revision AND i.model = o.model
        AND i.image_size IS NOT DISTINCT FROM o.image_size
    LEFT JOIN reference_results AS v
        ON v.benchmark = 'imagenet_1k' AND v.condition = 'val'
        AND v.metric = 'top1' AND v.variant = 'unmasked'
        AND v.source = o.source AND v.revision = o.revision AND v.model = o.model
        AND v.image_size IS NOT DISTINCT FROM o.image_size
),
logits AS (
    SELECT *, ln(accuracy / (1 - accuracy)) AS y, ln(accuracy_id / (1 - accuracy_id)) AS x
    FROM published
    WHERE in_pool
),
lines AS (
    SELECT
        benchmark, condition, metric, variant, source AS pool, revision AS pool_revision,
        synthetic AS pool_synthetic, count(*) AS n_pool,
        -- In a fixed order: the last bit of a sum of floats depends on it.
        regr_slope(y, x ORDER BY model, image_size) AS slope,
        regr_intercept(y, x ORDER BY model, image_size) AS intercept
    FROM logits
    GROUP BY ALL
    HAVING count(*) >= 10
),
points AS (
    SELECT
        p.*, 'lake' AS origin, o.model, o.n, o.value AS accuracy, i.value AS accuracy_id,
        o.ci_lo, o.ci_hi, o.ci_method, o.run_id,
        o.stale OR i.stale AS stale, o.synthetic OR i.synthetic AS synthetic, false AS in_pool
    FROM pairs AS p
    JOIN metrics AS o USING (benchmark, condition, metric, variant)
    JOIN metrics AS i
        ON i.benchmark = p.id_benchmark AND i.condition = p.id_condition
        AND i.metric = p.id_metric AND i.variant = p.id_variant AND i.model = o.model
    UNION ALL BY NAME
    SELECT * EXCLUDE (source), source AS origin FROM published
)
SELECT
    x.origin, x.model, x.model_kind, x.image_size,
    x.benchmark, x.condition, x.metric, x.variant,
    x.id_benchmark, x.id_condition, x.id_metric, x.id_variant,
    x.accuracy, x.accuracy_id, x.n, x.ci_lo, x.ci_hi, x.ci_method,
    x.expected, 100 * (x.accuracy - x.expected) AS effective_robustness,
    100 * (x.ci_lo - x.expected) AS effective_robustness_lo,
    100 * (x.ci_hi - x.expected) AS effective_robustness_hi,
    x.slope, x.intercept, x.n_pool, x.pool, x.pool_revision,
    coalesce(x.in_pool AND x.origin = x.pool AND x.revision = x.pool_revision, false) AS in_pool,
    x.synthetic OR x.pool_synthetic AS synthetic, x.stale, x.run_id
FROM (
    SELECT
        s.*, l.slope, l.intercept, l.n_pool, l.pool, l.pool_revision, l.pool_synthetic,
        CASE
            WHEN s.accuracy_id <= 0 THEN 0
            WHEN s.accuracy_id >= 1 THEN 1
            ELSE 1 / (1 + exp(-(l.slope * ln(s.accuracy_id / (1 - s.accuracy_id)) + l.intercept)))
        END AS expected
    FROM points AS s
    JOIN lines AS l USING (benchmark, condition, metric, variant)
) AS x;
