run - > x.json
run x.json
