"""Reading what a model wrote: one code for answers, tables and any JSON Schema with labels. Pure.

``read.read_text`` and ``read.read_reply`` are the ways in; ``schema.compile_schema`` makes the domain.
"""
