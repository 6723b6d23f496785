-- Accuracy under shift beyond what the accuracy without shift predicts (Taori et al., 2020).
CREATE VIEW effective_robustness AS
SELECT
    model, benchmark, condition, metric, variant, value AS accuracy,
    NULL::DOUBLE AS accuracy_id, NULL::DOUBLE AS expected, NULL::DOUBLE AS effective_robustness
FROM metrics
WHERE false;
