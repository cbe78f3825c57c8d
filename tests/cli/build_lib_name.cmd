build --lib ../nn
