run named_blocks.task --name layer -D x=[10,20,-1] --on hw --chip tiny
run named_blocks.task --name layer -D x=[10,20,-1]
run named_blocks.task --name net -D x=[10,-20,1] --on hw
