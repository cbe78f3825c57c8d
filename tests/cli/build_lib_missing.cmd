build --lib nowhere
