"""The append-only run log: writer, reader, hash chain, blobs, views and upcasters."""

from vlmrec.log.format import Appended, LogInfo, LogKind, Parent, Row
from vlmrec.log.reader import LogReader, open_checked, open_log
from vlmrec.log.sealing import seal_if_idle
from vlmrec.log.writer import LogWriter

__all__ = [
    "Appended",
    "LogInfo",
    "LogKind",
    "LogReader",
    "LogWriter",
    "Parent",
    "Row",
    "open_checked",
    "open_log",
    "seal_if_idle",
]
