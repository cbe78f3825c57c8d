map map_assumed.task --name net --chip tiny
