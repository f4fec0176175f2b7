# Rscript start_stop.R FOLDER CASE...: concordance of (start, stop] rows and weights, by survival.
suppressMessages({library(survival); library(prodlim); library(jsonlite)})
arguments <- commandArgs(TRUE)
folder <- arguments[1]
found <- list()
for (name in arguments[-1]) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))
  plain <- all(rows$start == 0)
  outcome <- if (plain) Surv(rows$stop, rows$event) else Surv(rows$start, rows$stop, rows$event)
  agreement <- function(...) concordance(
    outcome ~ risk, data = rows, weights = rows$weight, reverse = TRUE, ...)
  harrell <- agreement()
  found[[name]] <- list(
    concordance = unname(harrell$concordance), concordant = harrell$count[["concordant"]],
    discordant = harrell$count[["discordant"]], tied_risk = harrell$count[["tied.x"]])
  if (plain) {
    found[[name]]$uno <- unname(agreement(timewt = "n/G2")$concordance)
    reverse <- prodlim(Hist(stop, event) ~ 1, data = rows, caseweights = rows$weight, reverse = TRUE)
    found[[name]]$follow_up <- sapply(c(0.75, 0.5, 0.25), function(share)
      min(c(reverse$time[reverse$surv <= share + 1e-9], Inf)))
  }
}
found$version <- as.character(packageVersion("survival"))
write_json(found, file.path(folder, "start_stop.json"), digits = NA, auto_unbox = TRUE)
