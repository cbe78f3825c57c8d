graph examples/02_composition.task --format json --validate
