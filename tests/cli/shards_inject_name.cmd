run inject.task --inject 1:17:nonsense
