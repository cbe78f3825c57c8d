run - 
run graphs.task --name ladder -D x=in.npy
