slices labelled/passes.task -O=0 --metrics
