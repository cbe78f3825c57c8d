build --lib shapes -o no/such/folder/shapes.tasklib
