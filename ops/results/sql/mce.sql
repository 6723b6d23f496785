-- The corruption errors of every model, and each of the quantities that are called mCE, by name.
CREATE VIEW mce AS
SELECT
    model, benchmark, condition AS corruption, metric, variant,
    value AS value_pct, ci_lo AS ci_lo_pct, ci_hi AS ci_hi_pct, ci_method, n,
    synthetic, stale, run_id
FROM metrics
WHERE metric LIKE '%mce%\_pct' ESCAPE '\' OR metric LIKE '%ce\_alexnet\_pct' ESCAPE '\'
    OR metric LIKE 'mean\_err%\_pct' ESCAPE '\';
