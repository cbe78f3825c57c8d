run quantize_files.task
run -
graph q.json
graph q.json --format json --validate > again.json
