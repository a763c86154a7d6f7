"""Errors that stop a run with a message to the user."""


class MutationError(Exception):
    """The message is all that is printed."""


class Stopped(BaseException):
    """A signal requested the end; like KeyboardInterrupt no ordinary handler swallows it."""

    def __init__(self, signal_number: int):
        super().__init__(signal_number)
        self.signal_number = signal_number
