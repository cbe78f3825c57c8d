run run_define_type.task -D count=1.5
