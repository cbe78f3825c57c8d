graph graph_none.task
