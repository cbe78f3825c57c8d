run run_arguments.task a b c
