run run_define_nan.task -D x=nan
run run_define_nan.task -D x=-inf
run run_define_nan.task --name scaled -D "x=[1.0, -inf]" -D k=2
run run_define_nan.task --name scaled -D "x=[pi, 0]" -D k=nan
