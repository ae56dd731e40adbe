"""Who answers where, with which key, in which dialects: rows of data, and what is known of model families."""
