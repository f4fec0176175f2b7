# Trees of partykit::ctree and rpart on the tables of a folder, as JSON; called by make_reference.py.
suppressMessages({
  library(jsonlite)
  library(partykit)
  library(rpart)
  library(survival)
})

folder <- commandArgs(trailingOnly = TRUE)[1]

signature <- function(rows) {
  rows <- as.numeric(rows) - 1 # Python counts from zero
  c(length(rows), sum(rows), sum(rows^2))
}

read_table <- function(name) {
  kinds <- fromJSON(file.path(folder, paste0(name, ".json")), simplifyVector = TRUE)
  data <- read.csv(file.path(folder, paste0(name, ".csv")), colClasses = "character", na.strings = "")
  for (column in names(data)) {
    kind <- kinds[[column]]
    data[[column]] <- if (identical(kind, "numeric")) as.numeric(data[[column]])
    else if (identical(kind, "factor")) factor(data[[column]])
    else factor(data[[column]], levels = kind, ordered = TRUE)
  }
  data
}

ctree_reference <- function(data) {
  # Rows with a missing value follow the majority; otherwise partykit draws their side at random.
  tree <- ctree(Surv(time, event) ~ ., data = data, majority = TRUE)
  leaf <- predict(tree, newdata = data, type = "node")
  if (!anyNA(data)) leaf <- fitted(tree)[["(fitted)"]]
  ids <- nodeids(tree)
  terminal <- function(id) nodeids(tree, from = id, terminal = TRUE)
  lapply(ids, function(id) {
    node <- node_party(tree[id])
    criterion <- info_node(node)$criterion
    list(
      rows = signature(which(leaf %in% terminal(id))),
      column = if (is.terminal(node)) NULL else names(data_party(tree))[varid_split(split_node(node))],
      statistic = if (is.null(criterion)) NULL else as.list(criterion["statistic", ]),
      p_value = if (is.null(criterion)) NULL else as.list(criterion["p.value", ])
    )
  })
}

rpart_reference <- function(formula, data, method) {
  control <- rpart.control(
    minsplit = 20, minbucket = 7, cp = 0, maxdepth = 30, xval = 0, maxcompete = 0, maxsurrogate = 0
  )
  tree <- rpart(formula, data, method = method, parms = list(shrink = 0), control = control, y = TRUE)
  number <- as.integer(rownames(tree$frame))
  ancestors <- function(n) if (n < 1) integer(0) else c(n, ancestors(n %/% 2))
  paths <- lapply(number[tree$where], ancestors)
  list(
    nodes = lapply(seq_along(number), function(i) {
      is_leaf <- tree$frame$var[i] == "<leaf>"
      list(
        rows = signature(which(vapply(paths, function(p) number[i] %in% p, TRUE))),
        column = if (is_leaf) NULL else as.character(tree$frame$var[i]),
        deviance = tree$frame$dev[i]
      )
    }),
    pruning = list(cp = tree$cptable[, "CP"], splits = tree$cptable[, "nsplit"],
                   relative_error = tree$cptable[, "rel error"]),
    time = tree$y[, 1]
  )
}

result <- list()
for (name in readLines(file.path(folder, "ctree.txt"))) {
  result$ctree[[name]] <- ctree_reference(read_table(name))
}
for (name in readLines(file.path(folder, "rpart.txt"))) {
  data <- read_table(name)
  hazard <- data$hazard
  data$hazard <- NULL
  exponential <- rpart_reference(Surv(time, event) ~ ., data, "exp")
  distinct <- !duplicated(data$time)
  exponential$time <- list(from = data$time[distinct], to = exponential$time[distinct])
  exposed <- data
  exposed$time <- exposed$event <- NULL
  exposed$y <- cbind(hazard, data$event)
  poisson <- rpart_reference(y ~ ., exposed, "poisson")
  poisson$time <- NULL
  result$rpart[[name]] <- list(exp = exponential, poisson = poisson)
}
result$versions <- list(
  R = as.character(getRversion()), partykit = as.character(packageVersion("partykit")),
  rpart = as.character(packageVersion("rpart")), coin = as.character(packageVersion("coin"))
)
write_json(result, file.path(folder, "reference.json"), digits = I(17), auto_unbox = TRUE, null = "null", na = "null")
