run sized.task
run -D base=2 sized.task
run -D "base=len(args()) + 3" sized.task
