"""Result rows: schema, files, data frames."""
