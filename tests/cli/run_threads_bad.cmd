run hello.task --threads=-1
