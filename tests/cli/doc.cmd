doc softmax
