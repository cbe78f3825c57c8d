graph graphs.task --stage slices
