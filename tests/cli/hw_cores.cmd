run on_chip.task --cores 9999
