rum hello.task
