run hello.task --trace t.json
run -
