# Rscript tied.R FOLDER CASE...: metrics of tied rows, by riskRegression and survival.
suppressMessages({library(survival); library(prodlim); library(riskRegression); library(jsonlite)})
arguments <- commandArgs(TRUE)
folder <- arguments[1]
found <- list()
for (name in arguments[-1]) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))
  times <- c(rows$first[1], rows$second[1])
  absolute <- cbind(1 - rows$early, 1 - rows$late)
  score <- function(formula, predicted, metrics, ...) Score(
    list(model = predicted), formula = formula, data = rows, times = times, metrics = metrics,
    null.model = FALSE, conf.int = FALSE, cens.model = "km", ...)
  one <- score(Surv(time, event) ~ 1, absolute, c("brier", "auc"))
  several <- score(Hist(time, cause) ~ 1, absolute / 2, "brier", cause = 1)
  uno <- function(...) concordance(
    Surv(time, event) ~ risk, data = rows, reverse = TRUE, timewt = "n/G2", ...)$concordance
  found[[name]] <- list(
    brier = one$Brier$score$Brier, auc = one$AUC$score$AUC,
    incidence_brier = several$Brier$score$Brier,
    uno = uno(), uno_tau = uno(ymax = times[2]))
}
write_json(found, file.path(folder, "tied.json"), digits = NA, auto_unbox = TRUE)
