run exit_code.task
