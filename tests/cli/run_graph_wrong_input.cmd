run graphs.task --name ladder -D x=[1.0] -D z=1
