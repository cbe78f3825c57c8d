check hello.task broken.task
