map map_value.task --name q --objective cores --stage split
