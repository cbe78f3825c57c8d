map map_value.task --name q --chip tiny --cores 9999
