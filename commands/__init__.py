"""The sub-commands, one module each: options in, a library call, output."""
