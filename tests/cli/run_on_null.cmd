run hello.task --on null
