"""Areas on the earth: what lies in them, what a store can test of that, and the cells of a grid that they touch."""
