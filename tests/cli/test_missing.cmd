test absent.task
