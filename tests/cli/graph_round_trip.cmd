graph graphs.task --name diamond --format json > one.json
graph one.json --format json > two.json
run -
run two.json -D n=3
