"""What verify looks at, part by part."""
