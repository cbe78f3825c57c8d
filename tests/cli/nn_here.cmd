run nn_here.task
