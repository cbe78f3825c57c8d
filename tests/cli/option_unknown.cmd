run hello.task --fast
