run hw_optimise.task --chip tiny --check engin
