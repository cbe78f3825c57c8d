graph graphs.task --name ladder --format json > l.json
run l.json -D x=[1.0,2.0]
