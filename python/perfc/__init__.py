"""perfc's Python side: what needs a framework, such as exporting models for perfc to read."""
