"""The sections of a page, one module each: `section(sources)` returns a Section, without parts if no file has any."""
