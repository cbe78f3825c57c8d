run hello.task --on "host(threads: -1)"
