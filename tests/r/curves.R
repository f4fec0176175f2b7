# Kaplan-Meier curves of leaves, with log-log bands and medians, as JSON; called by make_reference.py.
suppressMessages({
  library(jsonlite)
  library(survival)
})

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]

curve <- function(rows) {
  survival <- if (any(rows$entry > 0)) Surv(rows$entry, rows$time, rows$event == "True")
  else Surv(rows$time, rows$event == "True")
  # Not robust: weights count as repeated rows.
  fit <- survfit(survival ~ 1, weights = rows$weight, conf.type = "log-log", robust = FALSE)
  quantiles <- summary(fit)$table
  list(
    time = fit$time, at_risk = fit$n.risk, events = fit$n.event,
    survival = fit$surv, lower = fit$lower, upper = fit$upper,
    median = quantiles[["median"]], median_lower = quantiles[["0.95LCL"]],
    median_upper = quantiles[["0.95UCL"]]
  )
}

result <- list(versions = list(
  R = as.character(getRversion()), survival = as.character(packageVersion("survival"))
))
for (name in arguments[-1]) {
  data <- read.csv(file.path(folder, paste0(name, ".csv")))
  result$curves[[name]] <- lapply(split(data, data$leaf), curve)
}
# Vectors stay vectors, also those of one number.
boxed <- function(value) if (is.list(value)) lapply(value, boxed) else value
write_json(boxed(result), file.path(folder, "curves.json"), digits = I(15), auto_unbox = FALSE, na = "null")
