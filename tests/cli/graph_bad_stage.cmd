graph graphs.task --stage middle
