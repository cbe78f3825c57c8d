run hello.task -D nome=x
