slices hello.task -O1
