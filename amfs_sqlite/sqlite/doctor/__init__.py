"""What is wrong with a store and around it, and putting it right."""
