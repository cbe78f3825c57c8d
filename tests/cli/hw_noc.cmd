run on_chip.task --chip tiny --noc quick
