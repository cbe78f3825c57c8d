slices labelled/fold.task
