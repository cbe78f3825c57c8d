run graphs.task --name ladder
