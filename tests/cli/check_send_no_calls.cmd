check --warn=implicit-send check_send_no_calls.task
