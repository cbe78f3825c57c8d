graph graph_ops_text.task --stage ops --format svg
