check --error=implicit-send labelled/fold.task
