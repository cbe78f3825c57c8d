run hello.task --schedule=sideways
