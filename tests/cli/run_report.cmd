run hello.task --report
run hello.task --report r.json
run -
