"""Stands in for the package safetensors, where Debian's Python has none."""
