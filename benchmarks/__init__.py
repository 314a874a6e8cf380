"""Measurements, side by side with the alternatives, in one run. They belong to no test."""
