graph hello.task --stage slices --format svg
