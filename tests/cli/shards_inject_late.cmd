run inject.task --inject 1:9999:domain
