doc zeros
