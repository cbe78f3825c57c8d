graph graph_blocks_unknown.task --stage blocks --name h
