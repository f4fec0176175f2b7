# Rscript smooth.R FOLDER CASE...: smooth calibration as Austin and others have it, by survival and rms; AUC of
# causes by riskRegression.
suppressMessages({library(survival); library(rms); library(riskRegression); library(jsonlite)})
arguments <- commandArgs(TRUE)
folder <- arguments[1]
found <- list()
for (name in arguments[-1]) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))
  horizon <- rows$horizon[1]
  cll <- log(-log(1 - rows$risk))
  # Weights are repeated rows: so are the quantiles that knots are at.
  knots <- quantile(rep(cll, rows$weight), c(0.1, 0.5, 0.9))
  rows$linear <- cll
  rows$bend <- rcspline.eval(cll, knots = knots)[, 1]
  if (any(rows$cause > 1)) {
    rows$state <- factor(rows$cause, 0:2)
    long <- finegray(Surv(time, state) ~ ., data = rows, etype = "1")
    fit <- coxph(Surv(fgstart, fgstop, fgstatus) ~ linear + bend, data = long, weights = fgwt, ties = "breslow")
  } else {
    fit <- coxph(Surv(entry, time, cause) ~ linear + bend, data = rows, weights = weight, ties = "breslow")
  }
  # The hazard where the linear predictor is zero.
  hazard <- basehaz(fit, centered = FALSE)
  step <- max(c(0, hazard$hazard[hazard$time <= horizon]))
  observed <- 1 - exp(-step * exp(as.vector(cbind(rows$linear, rows$bend) %*% coef(fit))))
  apart <- rep(abs(observed - rows$risk), rows$weight)
  found[[name]] <- list(
    observed = observed, ici = mean(apart), e50 = median(apart), e90 = unname(quantile(apart, 0.9))
  )
  if (name == "gbsg2") {
    rows$one <- Surv(rows$time, rows$cause)
    smooth <- cph(one ~ rcs(linear, 3), data = rows, x = TRUE, y = TRUE, surv = TRUE, ties = "breslow", eps = 1e-10)
    found[[name]]$rms <- 1 - as.vector(survest(smooth, newdata = rows, times = horizon, conf.int = FALSE)$surv)
  }
  if (any(rows$cause > 1)) {
    score <- Score(
      list(model = cbind(rows$risk)), formula = Hist(time, cause) ~ 1, data = rows, times = horizon, cause = 1,
      metrics = "auc", null.model = FALSE, conf.int = FALSE, cens.model = "km"
    )
    found[[name]]$auc <- score$AUC$score$AUC
  }
}
write_json(found, file.path(folder, "smooth.json"), digits = NA, auto_unbox = TRUE)
