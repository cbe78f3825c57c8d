test --label right passing.task failing.task
