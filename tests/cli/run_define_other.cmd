run hello.task -D count=1.5
