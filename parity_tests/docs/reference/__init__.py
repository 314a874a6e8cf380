"""The pages of docs/reference, each made from what it is about."""
