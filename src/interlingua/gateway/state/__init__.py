"""State that is kept between requests, in this process or in Redis."""
