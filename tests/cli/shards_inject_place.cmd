run inject.task --inject 2:3:pieces
