map on_chip.task --name net --chip tiny --cores 9999
