"""Every error a caller may want to catch, grouped by what can be done about it.

VlmrecError                 shown as one line by the command line; exit code as stated
├── InputError          2   fix the input: a file, an option, a condition, a label, a reply of the engine's user
│   ├── MediaError      2   a video file can't be read; names the file and the fault
│   ├── LogError        2   a run log can't be opened, is too new, or refuses what was to be appended
│   │   ├── LogBusy     2   another process writes or reads the log; try again when it has ended
│   │   └── DuplicateEvent  an event with this id is in the log already; nothing of the batch was appended
│   └── ResumeRefused   2   what the run was made with has changed; names the first field that differs
├── CheckFailed         1   a check ran and did not hold (verify, engine check)
├── StopRun             2   the run was stopped because further calls would fail in the same way
│   └── BudgetReached   3   a limit set by the operator, or the provider's credit, is used up
└── ServiceError        2   a service that must answer (engine, object store) did not; retry later

Wrong calls from our own code stay TypeError and ValueError, and keep their traceback.
"""

from typing import ClassVar

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class VlmrecError(Exception):
    """Base of all errors whose text is meant for the person at the terminal."""

    exit_code: ClassVar[int] = 2


class InputError(VlmrecError):
    """Something that was given is wrong; the message says what, where, and what to do."""


class MediaError(InputError):
    """A video file can't be read, or gives no frame."""


class LogError(InputError):
    """A run log can't be opened or written."""


class LogBusy(LogError):
    """Another process holds the log, as its writer or as a reader that a change of journal mode must wait for."""


class DuplicateEvent(LogError):
    """An event with the same deterministic id is in the log already."""


class ResumeRefused(InputError):
    """A stored run can't be continued, because what it was made with has changed."""


class CheckFailed(VlmrecError):
    """A check ran to its end and did not hold."""

    exit_code = 1


class StopRun(VlmrecError):
    """The run was stopped with nothing lost, because further calls would fail in the same way."""


class BudgetReached(StopRun):
    """A limit of the operator's, or the provider's credit, is used up."""

    exit_code = 3


class ServiceError(VlmrecError):
    """A service that the command depends on did not answer as it must."""
