-- The headline metric of every benchmark, one row a model and condition, in percent. Of frame sets
-- it is pm-10, or pm-k where only k frames to either side were mined. `seen_in_training`: the model
-- was fine-tuned on videos of this very set, so that its score says nothing about other videos.
CREATE VIEW leaderboard AS
WITH headline (benchmark, metric, variant, better) AS (
    VALUES
        ('imagenet_1k', 'top1', 'unmasked', 'higher'),
        ('imagenet_real', 'top1', 'real', 'higher'),
        ('imagenetv2', 'top1', 'unmasked', 'higher'),
        ('imagenet_sketch', 'top1', 'unmasked', 'higher'),
        ('imagenet_a', 'top1', 'masked', 'higher'),
        ('imagenet_r', 'top1', 'masked', 'higher'),
        ('imagenet_o', 'aupr', 'max softmax', 'higher'),
        ('imagenet_c', 'mce_alexnet_pct', 'alexnet', 'lower'),
        ('imagenet_c_rendered', 'mce_alexnet_pct', 'alexnet', 'lower'),
        ('imagenet_c_on_the_fly', 'mce_alexnet_pct', 'alexnet', 'lower'),
        ('mini_imagenet_c', 'mean_err_15_pct', 'severity 5', 'lower'),
        ('mini_imagenet_c_rendered', 'mean_err_15_pct', 'severity 5', 'lower'),
        ('imagenet_p', 'mean_flip_probability_10', 'unnormalised', 'lower'),
        ('imagenet_p_rendered', 'mean_flip_probability_10', 'unnormalised', 'lower'),
        ('imagenet_p_on_the_fly', 'mean_flip_probability_10', 'unnormalised', 'lower'),
        ('distorted_imagenet', 'avg_top1_7', 'clean + 6 levels', 'higher'),
        ('distorted_cifar_100', 'avg_top1_7', 'clean + 6 levels', 'higher'),
        ('distorted_caltech_101', 'avg_top1_7', 'clean + 6 levels', 'higher'),
        ('distorted_caltech_256', 'avg_top1_7', 'clean + 6 levels', 'higher'),
        ('distorted_sun_397', 'avg_top1_7', 'clean + 6 levels', 'higher'),
        ('imagenet_vid_robust', 'pm10', 'with anchor', 'higher'),
        ('ytbb_robust', 'pm10', 'with anchor', 'higher'),
        ('cifar_100', 'top1', 'unmasked', 'higher'),
        ('caltech_101', 'top1', 'unmasked', 'higher'),
        ('caltech_256', 'top1', 'unmasked', 'higher'),
        ('sun_397', 'top1', 'unmasked', 'higher')
    UNION ALL
    SELECT benchmark, 'pm' || k, 'with anchor', 'higher'
    FROM (VALUES ('frame_sets'), ('reviewed_frame_sets')) AS mined (benchmark), range(1, 11) AS ks (k)
)
SELECT
    m.model, m.benchmark, m.condition, m.metric, m.variant, h.better,
    m.value * unit AS value_pct, m.ci_lo * unit AS ci_lo_pct, m.ci_hi * unit AS ci_hi_pct,
    m.ci_method, m.n, m.synthetic, m.stale, m.seen_in_training, m.run_id
FROM (SELECT *, CASE WHEN metric LIKE '%\_pct' ESCAPE '\' THEN 1 ELSE 100 END AS unit FROM metrics) AS m
JOIN headline AS h USING (benchmark, metric, variant)
WHERE m.condition <> 'train'
-- Of all others there is one row; of frame sets the widest is kept.
QUALIFY row_number() OVER (
    PARTITION BY m.model, m.benchmark, m.condition ORDER BY TRY_CAST(metric[3:] AS INTEGER) DESC
) = 1;
