run shards_pull_maps.task --on mpi --shards 3 --schedule pull
