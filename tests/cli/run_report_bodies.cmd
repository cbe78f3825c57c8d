run run_report_bodies.task --report
