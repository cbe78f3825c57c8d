run agents.task --name Net.forward -D x=[1.0,3.0]
