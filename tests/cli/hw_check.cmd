run on_chip.task --chip tiny --check engin
