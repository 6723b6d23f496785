-- The corruption errors of every model, and each of the quantities that are called mCE, by name.
-- variant says what they are over: the published AlexNet, one that was evaluated here
-- ("over <model>"), or nothing.
CREATE VIEW mce AS
SELECT
    model, benchmark, condition AS corruption, metric, variant,
    value AS value_pct, ci_lo AS ci_lo_pct, ci_hi AS ci_hi_pct, ci_method, n,
    synthetic, stale, run_id
FROM metrics
WHERE regexp_matches(metric, '^(relative_)?m?ce_(.*_)?pct$|^mean_err(_1[59])?_pct$');
