graph graph_ops_unknown.task --stage ops --name g
