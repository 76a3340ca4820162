"""The process that owns the memory: life cycle, HTTP, worker pool, recall, intake, jobs."""
