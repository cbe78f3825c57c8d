check hello.task graphs.task main.task
