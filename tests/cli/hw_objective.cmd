run on_chip.task --chip tiny --objective fast
