slices labelled/passes.task -O2 --metrics
