"""The Python SDK: `Memory` and `AsyncMemory` over proven connections."""
