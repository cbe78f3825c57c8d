slices tools.tasklib
