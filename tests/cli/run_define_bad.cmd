run hello.task -D name
