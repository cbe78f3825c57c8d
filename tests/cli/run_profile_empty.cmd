run --profile run_profile_empty.task
