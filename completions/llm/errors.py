"""The few ways in which a call can fail, and which of them may heal."""

from completions.llm.exchange import Reply

CONFIGURATION = "configuration"
"""The kind of a failure that only whoever runs the platform can mend."""


class ProviderError(Exception):
    """A call brought no usable text; ``kind`` says why in a word, ``reply`` is what did come."""

    kind = "unknown"

    def __init__(self, detail: str, *, kind: str = "", reply: Reply | None = None) -> None:
        super().__init__(detail)
        self.kind = kind or self.kind
        self.reply = reply


class TransientError(ProviderError):
    """The provider may answer if asked again: rate limit, overload, lost connection."""

    def __init__(self, detail: str, *, kind: str, retry_after_s: float | None = None) -> None:
        super().__init__(detail, kind=kind)
        self.retry_after_s = retry_after_s


class PermanentError(ProviderError):
    """Asking again cannot help."""


class ContentFilteredError(PermanentError):
    """The provider's filter held the question or the answer back."""

    kind = "content_filtered"


class EmptyAnswerError(PermanentError):
    """The provider reported success and sent no text."""

    kind = "empty"


class RefusedAnswerError(PermanentError):
    """The model declined in the field that its API has for that; the words are in ``reply``."""

    kind = "refused"


class TruncatedAnswerError(PermanentError):
    """The answer stopped at a limit of tokens."""

    kind = "truncated"


class UnexpectedError(PermanentError):
    """Neither the provider nor the network failed: something here cannot deal with the answer."""

    kind = "unexpected"
