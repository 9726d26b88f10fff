"""What raters of a study received, made again by its views, and what its markup says."""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter

from django.db.models import QuerySet
from django.http import HttpResponse
from django_htmx.middleware import HtmxDetails

from annotation.choices import Side
from annotation.models import Lease, Study
from annotation.session import blinded
from annotation.session.http import CredentialRequest
from annotation.session.views import judging
from completions.choices import SystemKind
from completions.dialogues.normaliser import plain
from completions.dialogues.queries import with_language
from completions.models import Completion

BLANK = "-"
"""What stands for a message: a rendering of it knows no source."""
PEOPLE = (SystemKind.HUMAN, SystemKind.ORIGINAL)


@dataclass(frozen=True)
class Replay:
    """One page that a rater received, and what is known of it behind the scenes.

    ``markup`` is the page without its messages and without what is drawn anew for each, and
    ``blank`` the same of a pair of blanks; they are equal where nothing but the text tells.
    """

    lease: Lease
    shown: tuple[Completion, ...]
    texts: tuple[str, ...]
    markup: str
    blank: str
    headers: tuple[str, ...]
    seconds: float
    seconds_blank: float

    @property
    def is_pair(self) -> bool:
        """Whether two messages are shown, and not one to be rated alone."""
        return len(self.shown) > 1

    @property
    def person_is_a(self) -> bool | None:
        """Whether a person wrote A and a program B, or the reverse; None for other pairs.

        Of one message alone: whether a person wrote it.
        """
        kinds = [one.system.kind in PEOPLE for one in self.shown]
        return None if self.is_pair and kinds[0] == kinds[1] else kinds[0]


def leases_of(study: Study) -> QuerySet[Lease]:
    """Return what raters of a study were shown, the newest first."""
    pairs = ("comparison__first__system", "comparison__second__system")
    writers = ("comparison__first__writer", "comparison__second__writer")
    intact = {f"comparison__{place}__erased_at": None for place in ("first", "second")}
    leases = Lease.objects.filter(rater__study=study, **intact)
    joined = leases.select_related("rater__study", *pairs, *writers)
    return with_language(joined, "comparison__context").order_by("-pk")


def replay(study: Study, leases: QuerySet[Lease]) -> Iterator[Replay]:
    """Yield what raters received of each lease: the page, and the fragment that htmx swaps in."""
    page = blinded.study_page(study.slug) or blinded.StudyPage.from_study(study)
    requests = [_request(page, is_swapped=swapped) for swapped in (False, True)]
    for lease in leases.iterator(chunk_size=200):
        begun = perf_counter()
        answers = [_show(request, lease) for request in requests]
        seconds = perf_counter() - begun
        shown = tuple(lease.comparison.completions)
        if lease.first_side == Side.B:
            shown = shown[::-1]
        texts = tuple(plain(one.text) for one in shown)
        pair = blinded.ComparisonPage.from_lease(lease)
        blank = replace(pair, message_a=BLANK, message_b=BLANK if pair.message_b else "")
        begun = perf_counter()
        blanks = [_show(request, lease, blank) for request in requests]
        seconds_blank = perf_counter() - begun
        yield Replay(
            lease=lease,
            shown=shown,
            texts=texts,
            markup="".join(_markup(answer, [*texts, *_turns(lease)]) for answer in answers),
            blank="".join(_markup(answer, _turns(lease)) for answer in blanks),
            headers=tuple(sorted(line for answer in answers for line in _headers(answer))),
            seconds=seconds,
            seconds_blank=seconds_blank,
        )


def _show(
    request: CredentialRequest, lease: Lease, comparison: blinded.ComparisonPage | None = None
) -> HttpResponse:
    """Have the view make a page of the lease, or of what stands in its place."""
    return judging.show_pair(request, lease, comparison=comparison)


def _markup(answer: HttpResponse, texts: list[str]) -> str:
    page = without_chance(answer.content.decode())
    return without_texts(page, texts, blank=BLANK)


def _headers(answer: HttpResponse) -> Iterator[str]:
    """Yield the lines before an answer, cookies among them, without what is drawn anew."""
    for name, value in answer.items():
        yield without_chance(f"{name.lower()}: {value}")
    for cookie in answer.cookies.values():
        yield without_chance(f"set-cookie: {cookie.OutputString()}")


def _turns(lease: Lease) -> list[str]:
    """Return what the dialogue says, which may hold any name."""
    return [plain(turn["text"]) for turn in lease.comparison.context.turns]


def _request(page: blinded.StudyPage, *, is_swapped: bool) -> CredentialRequest:
    request = CredentialRequest()
    request.method = "GET"
    request.META = {"SERVER_NAME": "localhost", "SERVER_PORT": "80"}
    if is_swapped:
        request.META["HTTP_HX_REQUEST"] = "true"
    request.htmx = HtmxDetails(request)
    request.page = page
    return request


TOKEN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
SECRET = re.compile(r'(name="csrfmiddlewaretoken" value=")[^"]*')
TAG = re.compile(r"<[a-zA-Z][^<>]*>")
NUMBER = re.compile(r"\d+")
SHORTEST = 4  # letters; a shorter name stands in too many words


@dataclass(frozen=True)
class Tag:
    """How often a tag stands on a page, its numbers aside, and those of the first."""

    n: int
    numbers: tuple[int, ...]


def tags_of(page: str) -> dict[str, Tag]:
    """Return the tags of a page, alike but for their numbers, by what they are alike in."""
    found: dict[str, Tag] = {}
    for tag in TAG.findall(page):
        shape = NUMBER.sub("#", " ".join(tag.split()))
        known = found.get(shape)
        numbers = tuple(map(int, NUMBER.findall(tag))) if known is None else known.numbers
        found[shape] = Tag(1 if known is None else known.n + 1, numbers)
    return found


def without_chance(page: str) -> str:
    """Return a page without what is drawn anew for each: lease tokens and form secrets."""
    return SECRET.sub(r"\1", TOKEN.sub("token", page))


def without_texts(page: str, texts: Iterable[str], *, blank: str) -> str:
    """Return a page whose message paragraphs say ``blank``, as often as a text stands in one."""
    for text in texts:
        page = page.replace(f">{html.escape(text)}</p>", f">{blank}</p>", 1)
    return page


def names_in(page: str, names: Iterable[str]) -> list[str]:
    """Return the names that stand in a page as words of their own, whatever their case."""
    lower = page.lower()
    return [
        name
        for name in sorted(set(names))
        if len(name) >= SHORTEST
        and name.lower() in lower
        and re.search(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])", lower)
    ]


def place_of(page: str, name: str) -> float:
    """Return how far from the end of a page a name stands in the mean, in characters."""
    found = [one.start() for one in re.finditer(re.escape(name.lower()), page.lower())]
    return len(page) - sum(found) / len(found)
