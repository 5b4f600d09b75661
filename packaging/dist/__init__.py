"""What `scripts/dist` is made of: one module for each thing that it writes."""
