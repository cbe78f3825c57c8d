# values that the host sends come with the next call
run inject.task --inject 1:5:sent
