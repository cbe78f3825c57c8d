fmt untidy.task
fmt --check untidy.task
run untidy.task
