slices examples/13_slices.task --metrics
