graph graphs.task --name diamond --format dot
