run named_blocks.task --name net -D x=[10,-20,1] --on hw
