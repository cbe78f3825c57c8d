map map_chips.task --name net --chips 2
