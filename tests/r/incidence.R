# Cumulative incidence of leaves by survival and by cmprsk, and the likelihood of a Poisson model of leaves
# and causes. Arguments: the folder of the tables, and their names.
library(survival)
library(cmprsk)
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]

of_leaf <- function(rows, causes) {
  state <- factor(rows$cause, levels = c(0, causes))
  late <- any(rows$entry > 0)
  weighted <- any(rows$weight != 1)
  outcome <- if (late) Surv(rows$entry, rows$time, state) else Surv(rows$time, state)
  if (late) {
    rows$id <- seq_len(nrow(rows))
    fit <- survfit(outcome ~ 1, data = rows, weights = weight, id = id, conf.type = "log-log")
  } else {
    fit <- survfit(outcome ~ 1, data = rows, weights = weight, conf.type = "log-log")
  }
  found <- list(
    time = fit$time, incidence = fit$pstate[, -1, drop = FALSE], std_err = fit$std.err[, -1, drop = FALSE],
    lower = fit$lower[, -1, drop = FALSE], upper = fit$upper[, -1, drop = FALSE]
  )
  if (!late && !weighted && any(rows$cause > 0)) {
    estimates <- cuminc(rows$time, rows$cause, cencode = 0)
    at <- timepoints(estimates, fit$time)$est
    found$cmprsk_cause <- as.integer(sub("^\\S+ ", "", rownames(at)))
    found$cmprsk <- unname(at)
  }
  found
}

likelihood <- function(rows, causes) {
  long <- do.call(rbind, lapply(causes, function(cause) {
    data.frame(
      event = as.integer(rows$cause == cause), hazard = rows[[paste0("hazard_", cause)]], leaf = rows$leaf,
      cause = cause, weight = rows$weight
    )
  }))
  long$cell <- factor(paste(long$leaf, long$cause))
  formula <- if (nlevels(long$cell) > 1) event ~ cell - 1 + offset(log(hazard)) else event ~ offset(log(hazard))
  fit <- glm(formula, family = poisson, data = long, weights = weight, control = list(epsilon = 1e-14, maxit = 100))
  mean <- fitted(fit)
  # Not logLik, which is not defined for weights that are fractions.
  sum(long$weight * (long$event * log(mean) - mean))
}

found <- list()
for (name in arguments[-1]) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))
  causes <- sort(setdiff(unique(rows$cause), 0))
  leaves <- sort(unique(rows$leaf))
  of_leaves <- lapply(leaves, function(leaf) of_leaf(rows[rows$leaf == leaf, ], causes))
  names(of_leaves) <- leaves
  found[[name]] <- list(leaves = of_leaves, causes = causes, log_likelihood = likelihood(rows, causes))
}
jsonlite::write_json(found, file.path(folder, "incidence.json"), digits = NA, auto_unbox = TRUE, na = "null")
