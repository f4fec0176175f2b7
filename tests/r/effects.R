# Poisson models with a factor for leaf and arm, as JSON; called by make_reference.py. The hazard of a row
# is that of the Nelson-Aalen estimate of all rows, as R's survfit has it, not a number of ours.
suppressMessages({
  library(jsonlite)
  library(survival)
})

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]

model <- function(rows) {
  rows$event <- rows$event == "True"
  survival <- if (any(rows$entry > 0)) Surv(rows$entry, rows$time, rows$event)
  else Surv(rows$time, rows$event)
  all <- survfit(survival ~ 1, data = rows, weights = rows$weight, ctype = 1)
  hazard <- stepfun(all$time, c(0, all$cumhaz))
  rows$hazard <- hazard(rows$time) - if (any(rows$entry > 0)) hazard(rows$entry) else 0
  # A row that left before the first event has next to no hazard; ours has a little.
  rows$hazard <- pmax(rows$hazard, rows$floor)
  rows$leaf <- factor(rows$leaf)
  rows$arm <- factor(rows$arm, levels = c("0", "1"))
  formula <- if (nlevels(rows$leaf) > 1) event ~ 0 + leaf + leaf:arm + offset(log(hazard))
  else event ~ arm + offset(log(hazard))
  control <- glm.control(epsilon = 1e-14, maxit = 100)
  fit <- suppressWarnings(glm(formula, poisson, rows, weights = rows$weight, control = control))
  coefficients <- summary(fit)$coefficients
  effects <- coefficients[grepl("arm1$", rownames(coefficients)), , drop = FALSE]
  common <- suppressWarnings(glm(
    if (nlevels(rows$leaf) > 1) event ~ 0 + leaf + arm + offset(log(hazard)) else formula,
    poisson, rows, weights = rows$weight, control = control
  ))
  curves <- lapply(split(rows, interaction(rows$leaf, rows$arm)), function(own) {
    own_survival <- if (any(rows$entry > 0)) Surv(own$entry, own$time, own$event)
    else Surv(own$time, own$event)
    fit <- survfit(own_survival ~ 1, weights = own$weight)
    list(time = fit$time, survival = fit$surv, at_risk = fit$n.risk)
  })
  list(
    leaf = levels(rows$leaf), effect = unname(effects[, 1]), error = unname(effects[, 2]),
    deviance = fit$deviance, common = unname(coef(common)["arm1"]), curves = curves
  )
}

result <- list(versions = list(
  R = as.character(getRversion()), survival = as.character(packageVersion("survival"))
))
for (name in arguments[-1]) {
  data <- read.csv(file.path(folder, paste0(name, ".csv")))
  result$effects[[name]] <- model(data)
}
write(toJSON(result, digits = NA, auto_unbox = FALSE), file.path(folder, "effects.json"))
