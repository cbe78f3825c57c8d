taskspec build --lib nn -o other.tasklib
