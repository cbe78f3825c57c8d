graph agents.task --name Net.forward --stage chains
