check --warn=sends hello.task
