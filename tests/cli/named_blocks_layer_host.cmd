run named_blocks.task --name layer -D x=[10,20,-1]
