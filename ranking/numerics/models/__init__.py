"""Models of a judgment beyond Bradley-Terry: ties, grades, covariates and evaluators."""
