graph graph_regions.task --stage plan
