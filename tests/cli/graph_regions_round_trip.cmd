graph graph_regions_run.task --format json --validate > one.json
graph one.json --format json > two.json
run -
run graph_regions_run.task --name g -D x=[1.0]
run two.json -D x=[1.0]
