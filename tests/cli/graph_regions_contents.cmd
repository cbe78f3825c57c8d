graph graph_regions_contents.task --format json --validate > one.json
graph one.json --format json > two.json
run -
run graph_regions_contents.task --name circuit -D x=[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]
run two.json -D x=[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]
graph graph_regions_contents.task --stage plan
graph graph_regions_contents.task --format html > page.html
