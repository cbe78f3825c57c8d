build --lib nn -o other.tasklib
