run agents.task --name Scale.go -D x=[1.0]
