run run_define_region.task --name g -D x=[1.0,2.0] -D c=cells.npy
