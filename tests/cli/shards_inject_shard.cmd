run inject.task --inject 9:17:domain
