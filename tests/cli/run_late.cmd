run late.task
