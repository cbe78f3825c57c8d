# the same as a stage, and as a tab
graph labelled/fold.task --stage slices
graph labelled/fold.task --stage slices --format json > stage.json
slices labelled/fold.task --format html > page.html
slices -
