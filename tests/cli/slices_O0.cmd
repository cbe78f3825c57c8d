slices labelled/passes.task -O0 --metrics
