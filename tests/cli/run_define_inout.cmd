run run_define_inout.task -D x=1
