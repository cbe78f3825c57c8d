run -
graph step.json
graph step.json --stage graph
graph step.json --validate
graph step.json --format json --validate > again.json
run step.json
