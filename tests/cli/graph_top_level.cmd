graph graph_top_level.task --stage graph
