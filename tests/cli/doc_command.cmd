doc :why
