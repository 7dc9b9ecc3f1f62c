"""The append-only run log: writer, reader, hash chain, blobs, views and upcasters."""
