explain E2003
