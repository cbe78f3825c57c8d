graph graph_regions.task --stage graph
