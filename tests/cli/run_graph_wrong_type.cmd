run graphs.task --name ladder -D x=[[1.0]]
