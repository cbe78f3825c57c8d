run hw_optimise.task --chip tiny --objective cores --optimise 40
