test passing.task failing.task
