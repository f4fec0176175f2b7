# Model-based recursive partitioning of a treatment effect: a Poisson model with the hazard as an offset, as
# partykit's glmtree fits it, and splits where the coefficient of the arm is not stable. Called by effects.py.
suppressMessages(library(partykit))

for (path in commandArgs(trailingOnly = TRUE)) {
  data <- read.csv(path, stringsAsFactors = TRUE)
  # Centred, so that the score of the arm is not that of the prognosis.
  data$arm <- data$arm - 0.5
  tree <- suppressWarnings(glmtree(
    event ~ arm + offset(log(hazard)) | a + b + c + d + e + f,
    data = data, family = poisson, parm = 2, maxdepth = 2, minsize = 30, alpha = 0.05
  ))
  asked <- if (width(tree) > 1) names(tree$data)[node_party(tree)$split$varid] else ""
  cat(asked, "\n")
  cat(predict(tree, data, type = "node"), "\n")
}
