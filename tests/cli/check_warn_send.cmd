check --warn=implicit-send labelled/fold.task labelled/passes.task
