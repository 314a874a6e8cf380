"""What our adapters promise beyond the protocol: each test once per adapter of ours, and of nobody else."""
