-- Correct and expected images of every current run: what each accuracy is a ratio of.
-- A sample that was expected and has no row counts as wrong. Frames of a video or a perturbation
-- sequence are no independent images; pm_k is in `metrics`, flip probabilities there and in `flips`.
CREATE VIEW counts AS
WITH plain AS (
    SELECT
        model, benchmark, condition, run_id,
        count(*) AS n_rows,
        count(correct) AS n_labelled,
        count(*) FILTER (WHERE correct) AS top1,
        count(*) FILTER (WHERE correct5) AS top5,
        count(*) FILTER (WHERE correct_masked) AS masked
    FROM predictions
    WHERE benchmark NOT IN (
        'imagenet_vid_robust', 'ytbb_robust', 'frame_sets',
        'imagenet_p', 'imagenet_p_rendered', 'imagenet_p_on_the_fly'
    )
    GROUP BY ALL
),
clean_200 AS (
    SELECT
        p.model, p.run_id, c.list AS mask,
        count(*) AS n,
        count(*) FILTER (
            WHERE list_filter(p.masks, lambda m: m.mask = c.list)[1].pred = p.labels[1]
        ) AS top1
    FROM predictions AS p
    JOIN class_lists AS c ON c.class_index = p.labels[1]
    WHERE p.benchmark = 'imagenet_1k' AND p.condition = 'val'
        AND c.list IN ('imagenet_a', 'imagenet_o', 'imagenet_r')
        -- A model that knows no class of a mask has no prediction under it, right or wrong.
        AND list_contains(list_transform(p.masks, lambda m: m.mask), c.list)
    GROUP BY ALL
),
reassessed AS (
    SELECT
        p.model, p.run_id,
        count(*) AS n,
        count(*) FILTER (WHERE list_contains(r.labels, p.pred)) AS top1,
        count(*) FILTER (WHERE list_has_any(r.labels, p.top5_idx)) AS top5
    FROM predictions AS p
    JOIN real_labels AS r USING (source_key)
    WHERE p.benchmark = 'imagenet_1k' AND p.condition = 'val' AND len(r.labels) > 0
    GROUP BY ALL
)
SELECT
    p.model, p.benchmark, p.condition, p.run_id,
    unnest([
        {metric: 'top1', variant: 'unmasked', k: p.top1},
        {metric: 'top5', variant: 'unmasked', k: p.top5},
        {metric: 'top1', variant: 'masked', k: CASE WHEN r.mask IS NOT NULL THEN p.masked END}
    ], recursive := true),
    p.n_labelled + greatest(r.n_expected - p.n_rows, 0) AS n
FROM plain AS p
JOIN runs AS r
    ON r.model = p.model AND r.benchmark = p.benchmark AND r.condition = p.condition
    AND r.run_id = p.run_id AND r.current
WHERE p.n_labelled > 0
UNION ALL BY NAME
SELECT
    model, 'imagenet_1k' AS benchmark, 'val' AS condition, run_id,
    'top1' AS metric, 'clean_200/' || mask AS variant, top1 AS k, n
FROM clean_200
UNION ALL BY NAME
SELECT
    model, 'imagenet_real' AS benchmark, 'clean' AS condition, run_id,
    unnest([
        {metric: 'top1', variant: 'real', k: top1},
        {metric: 'top5', variant: 'real', k: top5}
    ], recursive := true),
    n
FROM reassessed;
