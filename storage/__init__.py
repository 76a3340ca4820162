"""memory.db: connections, schema, migrations, and all the SQL there is."""
