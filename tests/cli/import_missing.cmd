run import_missing.task
