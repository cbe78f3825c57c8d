run graphs.task --name ladder -D x=[1,2.5]
run graphs.task --name ladder -D x=[1.0] -D k=3.0
run graphs.task --name diamond -D n=3
