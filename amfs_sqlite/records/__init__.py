"""What is stored beside entries: one module of models per noun."""
