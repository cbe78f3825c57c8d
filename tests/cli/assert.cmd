run assert.task
