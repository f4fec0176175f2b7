# Rscript cox.R FOLDER CASE...: Cox models with Breslow's ties, by survival.
suppressMessages({library(survival); library(jsonlite)})
arguments <- commandArgs(TRUE)
folder <- arguments[1]
found <- list()
for (name in arguments[-1]) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))
  fit <- coxph(Surv(entry, time, event) ~ arm + x + offset(offset) + strata(stratum), data = rows,
               weights = weight, ties = "breslow", robust = FALSE)
  found[[name]] <- list(
    coefficients = unname(coef(fit)), errors = unname(sqrt(diag(fit$var))),
    expected = unname(predict(fit, type = "expected")))
}
write_json(found, file.path(folder, "cox.json"), digits = NA, auto_unbox = TRUE)
