# Cox models of leaves, with Breslow curves and profile limits, as JSON; called by make_reference.py.
suppressMessages({
  library(jsonlite)
  library(survival)
})

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
control <- coxph.control(eps = 1e-11, iter.max = 100)
# Not robust: weights count as repeated rows.
cox <- function(formula, rows)
  coxph(formula, rows, weights = weight, ties = "breslow", control = control, robust = FALSE)

# Where twice the log likelihood is below its maximum by the 95% quantile, on either side; zero and
# the upper limit where the ratio is zero.
limits <- function(rows, own, reference, estimate, most) {
  others <- setdiff(levels(rows$group), c(own, reference))
  if (length(others)) rows$columns <- sapply(others, function(one) as.numeric(rows$group == one))
  formula <- if (length(others)) survival ~ columns + offset(value) else survival ~ offset(value)
  at <- function(value) {
    rows$value <- value * (rows$group == own)
    fit <- cox(formula, rows)
    tail(fit$loglik, 1) - most + qchisq(0.95, 1) / 2
  }
  root <- function(from, to, slope)
    exp(uniroot(at, c(from, to), tol = 1e-11, extendInt = slope)$root)
  if (is.na(estimate)) c(0, root(-4, -1, "downX"))
  else c(root(estimate - 0.5, estimate, "upX"), root(estimate, estimate + 0.5, "downX"))
}

model <- function(rows) {
  rows$group <- relevel(factor(rows$leaf), as.character(rows$reference[1]))
  dead <- tapply(rows$event == "True", rows$group, sum)
  # Leaves without events have the ratio zero: the others are then as if these were absent.
  some <- droplevels(rows[rows$group %in% names(dead)[dead > 0], ])
  fit <- cox(survival ~ group, some)
  estimate <- setNames(c(NA, coef(fit)), levels(some$group))[levels(rows$group)]
  names(estimate) <- levels(rows$group)
  others <- levels(rows$group)[-1]
  interval <- lapply(others, function(own) {
    used <- droplevels(rows[rows$group %in% c(levels(some$group), own), ])
    limits(used, own, levels(rows$group)[1], estimate[[own]], fit$loglik[2])
  })
  ratio <- c(1, ifelse(is.na(estimate[others]), 0, exp(estimate[others])))
  result <- list(
    leaf = levels(rows$group), ratio = unname(ratio),
    limits = do.call(rbind, c(list(c(1, 1)), interval)))
  if (all(dead > 0)) {
    curves <- survfit(fit, data.frame(group = levels(rows$group)), conf.type = "log-log")
    dies <- curves$n.event > 0
    result <- c(result, list(
      time = curves$time[dies], survival = t(curves$surv[dies, ]), lower = t(curves$lower[dies, ]),
      upper = t(curves$upper[dies, ])))
  }
  result
}

# The ratio of two arms in each leaf, by the rows of the leaf alone.
arms <- function(rows) {
  rows$group <- factor(rows$arm, levels = c("0", "1"))
  lapply(split(rows, rows$leaf), function(own) {
    fit <- cox(survival ~ group, own)
    list(ratio = exp(coef(fit)[[1]]), limits = limits(own, "1", "0", coef(fit)[[1]], fit$loglik[2]))
  })
}

result <- list(versions = list(
  R = as.character(getRversion()), survival = as.character(packageVersion("survival"))
))
for (name in arguments[-1]) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))
  event <- rows$event == "True"
  rows$survival <- if (any(rows$entry > 0)) Surv(rows$entry, rows$time, event)
  else Surv(rows$time, event)
  if (is.null(rows$arm)) result$ratios[[name]] <- model(rows)
  else result$arms[[name]] <- arms(rows)
}
write_json(result, file.path(folder, "hazard_ratios.json"), digits = I(13), auto_unbox = FALSE,
           na = "null")
