run hw_optimise.task --chip tiny --noc quick
