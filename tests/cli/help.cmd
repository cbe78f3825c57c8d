--help
run --help
graph --help
