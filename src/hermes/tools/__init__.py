"""The tools, one module each, their texts beside them."""
