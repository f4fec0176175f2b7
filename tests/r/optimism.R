# The optimism of Dxy of a Cox model with one column of 0 and 1, by rms::validate, as JSON; called by make_reference.py.
suppressMessages({
  library(jsonlite)
  library(rms)
})

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
# The spread over batches tells the Monte Carlo error, which validate does not.
n_batches <- 20
n_samples <- 200

found <- list()
for (name in arguments[-1]) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))
  fit <- cph(Surv(time, event) ~ x, data = rows, x = TRUE, y = TRUE)
  set.seed(1)
  batches <- replicate(n_batches, validate(fit, B = n_samples)["Dxy", ])
  optimism <- batches["optimism", ]
  found[[name]] <- list(
    apparent = batches["index.orig", 1], optimism = mean(optimism),
    error = sd(optimism) / sqrt(n_batches), samples = n_batches * n_samples,
    version = as.character(packageVersion("rms"))
  )
}
write(toJSON(found, auto_unbox = TRUE, digits = NA), file.path(folder, "optimism.json"))
