build --lib shapes
