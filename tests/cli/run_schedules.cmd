run hello.task --schedule=push
run hello.task --schedule pull
run hello.task --schedule=eager
run hello.task --threads 1
run hello.task --on "host(threads: 2, schedule: \"pull\")"
