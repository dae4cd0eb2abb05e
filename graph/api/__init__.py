"""What makes a graph: its types, pages, documents and execution, whatever the domain."""
