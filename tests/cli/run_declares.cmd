run run_declares.task
