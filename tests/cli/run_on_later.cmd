run hello.task --on mpi
