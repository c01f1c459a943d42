"""Suite files and the plan that is made of them."""
