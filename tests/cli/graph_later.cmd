graph graphs.task --stage blocks
