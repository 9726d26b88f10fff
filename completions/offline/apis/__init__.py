"""The ways in which providers are asked: three APIs with one simulated provider behind them."""

from completions.offline.apis.api import Api, ProviderRequest
from completions.offline.apis.chat import CHAT
from completions.offline.apis.gemini import GEMINI
from completions.offline.apis.messages import MESSAGES

APIS: tuple[Api, ...] = (CHAT, MESSAGES, GEMINI)


def api_at(path: str) -> Api | None:
    """Return the API that is asked at this path, or None."""
    return next((api for api in APIS if api.path.search(path)), None)


__all__ = ["APIS", "Api", "ProviderRequest", "api_at"]
