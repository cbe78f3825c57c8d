run quantize_files.task
run quantize_files_read.task
graph q.json
graph q.json --format json --validate > again.json
