fmt --check hello.task untidy.task
