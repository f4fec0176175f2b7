# Trees of rpart and partykit with their defaults on tables of a folder, as JSON; called by make_reference.py.
suppressMessages({
  library(partykit)
  library(rpart)
  library(survival)
})

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
source(file.path(folder, "write.R"))

for (name in arguments[-1]) {
  kinds <- jsonlite::fromJSON(file.path(folder, paste0(name, ".json")), simplifyVector = TRUE)
  data <- read.csv(file.path(folder, paste0(name, ".csv")), colClasses = "character", na.strings = "")
  for (column in names(data)) {
    kind <- kinds[[column]]
    data[[column]] <- if (identical(kind, "numeric")) as.numeric(data[[column]])
    else if (identical(kind, "factor")) factor(data[[column]])
    else factor(data[[column]], levels = kind, ordered = TRUE)
  }
  fit <- rpart(Surv(time, event) ~ ., data = data)
  write_rpart(fit, file.path(folder, paste0(name, ".rpart.json")))
  fit <- ctree(Surv(time, event) ~ ., data = data)
  write_party(fit, file.path(folder, paste0(name, ".partykit.json")))
}
