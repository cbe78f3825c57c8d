run args.task -- one --two -D
