run hello.task --profile
