graph graphs.task --stage ast
graph graphs.task --stage program
graph graphs.task --stage graph
graph graphs.task --stage chains
graph examples/05_shapes.task
