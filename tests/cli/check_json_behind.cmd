check --diagnostics=json hello.task
run --diagnostics json hello.task
graph --diagnostics=json hello.task
slices hello.task --diagnostics=json
fmt --diagnostics=json --check hello.task
build --diagnostics=json --lib shapes
repl --diagnostics=json
check --diagnostics=json broken.task
