"""What stops a run with a word to the user."""


class MutationError(Exception):
    """The message is all that is printed."""


class Stopped(BaseException):
    """A signal asked to end; like KeyboardInterrupt no ordinary handler swallows it."""

    def __init__(self, signal_number: int):
        super().__init__(signal_number)
        self.signal_number = signal_number
