slices slices_no_calls.task
