run hello.task
