run hello.task --on cloud
