build --lib hello -o no/such/folder/hello.tasklib
