doc sofmax
