# Restricted means of leaves, of arms in leaves and of causes, with standard errors, as JSON; called by make_reference.py.
suppressMessages({
  library(jsonlite)
  library(survival)
})

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]

# Not robust: weights count as repeated rows.
of_rows <- function(rows, horizon) {
  event <- rows$event == "True"
  survival <- if (any(rows$entry > 0)) Surv(rows$entry, rows$time, event) else Surv(rows$time, event)
  fit <- survfit(survival ~ 1, weights = rows$weight, robust = FALSE)
  figures <- summary(fit, rmean = horizon)$table
  at <- summary(fit, times = horizon, extend = TRUE)
  list(mean = figures[["rmean"]], error = figures[["se(rmean)"]], survival = at$surv, survival_error = at$std.err)
}

of_causes <- function(rows, horizon, causes) {
  rows$state <- factor(rows$cause, levels = c(0, causes))
  assign("rows", rows, envir = globalenv()) # where residuals look for it
  fit <- survfit(Surv(time, state) ~ 1, data = rows)
  figures <- summary(fit, rmean = horizon)$table
  influence <- resid(fit, times = horizon, type = "sojourn")
  list(mean = figures[-1, "rmean"], error = sqrt(colSums(influence^2))[-1])
}

result <- list(versions = list(
  R = as.character(getRversion()), survival = as.character(packageVersion("survival"))
))
for (name in arguments[-1]) {
  data <- read.csv(file.path(folder, paste0(name, ".csv")))
  horizon <- data$horizon[1]
  # R has no mean of rows that are all followed beyond the horizon.
  data <- do.call(rbind, Filter(function(rows) min(rows$time) < horizon, split(data, paste(data$leaf, data$arm))))
  if (is.null(data$cause)) {
    result$rows[[name]] <- lapply(split(data, paste(data$leaf, data$arm)), of_rows, horizon)
  } else {
    causes <- sort(setdiff(unique(data$cause), 0))
    result$causes[[name]] <- lapply(split(data, data$leaf), of_causes, horizon, causes)
  }
}
write_json(result, file.path(folder, "restricted.json"), digits = I(15), auto_unbox = FALSE, na = "null")
