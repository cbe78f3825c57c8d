check --error=implicit-send examples/13_slices.task
