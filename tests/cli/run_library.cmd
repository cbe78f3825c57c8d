run tools.tasklib
