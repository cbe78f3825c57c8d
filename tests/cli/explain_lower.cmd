explain e1004
