test passing.task
