run run_declares_graph.task
