"""The paper: its numbers, our cells beside them, tables, figures and the report."""
