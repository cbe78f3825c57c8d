run graphs.task --name lader -D x=[1.0]
