run absent.task
