# call 1 has the text of the program, what -D puts into it, and what the run captures
run inject.task --inject 2:1:program
