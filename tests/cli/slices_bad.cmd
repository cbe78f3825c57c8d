slices examples/x.json
