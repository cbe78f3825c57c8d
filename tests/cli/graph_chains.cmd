graph graphs.task --name diamond
