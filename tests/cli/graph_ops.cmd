graph graph_ops.task --name g --format json > g.json
graph g.json --stage ops --name twice
graph graph_ops.task --stage ops --name clip
