run examples/03_branches.task --schedule=push
run examples/03_branches.task --schedule=pull
run examples/03_branches.task --schedule=eager
