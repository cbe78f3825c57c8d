run hw_optimise.task --chip tiny --objective fast
