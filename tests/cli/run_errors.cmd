run broken.task
