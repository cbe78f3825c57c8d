run report_cut.task --report r.html
