doc for
