run hello.task -D name="big world" -D count=2*3+1
