"""What the product promises, as sentences."""
