-- How far confidence and accuracy are apart, each definition under its own name.
CREATE VIEW calibration AS
SELECT
    model, benchmark, condition, metric, variant, value, n, ci_lo, ci_hi, ci_method,
    synthetic, stale, run_id
FROM metrics
WHERE metric IN ('rms_calib', 'rms_calib_legacy', 'ece', 'aurra');
