"""The best settings of a model on a data set, by validation alone."""

from graphsct.search.loop import search
from graphsct.search.task import Found, Task

__all__ = ["Found", "Task", "search"]
