"""What is asked: documents, bounded, priced and remembered before anything of them is executed."""
