"""The paper: its numbers beside ours, tables, figures and the report."""
