run main.task -D n=5 -D scale=0.5 -D word=x=y
