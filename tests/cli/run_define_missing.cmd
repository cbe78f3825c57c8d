run run_define_missing.task --name f -D x=missing.npy
