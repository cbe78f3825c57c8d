run hello.task --on "host // its threads: one per core"
