"""Email templates for writers, rendered at send time."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from completions.choices import MailKind, WriterState
from completions.models import Writer, WriterMail
from completions.writers.credentials import invitation_link
from completions.writers.guidelines import INVITATION, TITLE, host_facts

NO_SERVER = "django.core.mail.backends.dummy.EmailBackend"
LONGEST_ADDRESS = 254
MOST_ATTEMPTS = 5
"""After so many refusals of a mail by the server it is given up."""


def is_server_set_up() -> bool:
    """Say whether there is a way to send mail."""
    return bool(settings.EMAIL_BACKEND != NO_SERVER)


def is_address(text: str) -> bool:
    """Say whether a text is one e-mail address, of a length that a server takes."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    return len(text) <= LONGEST_ADDRESS


def absolute(path: str) -> str:
    """Return where a path of this site is found from outside."""
    return f"{settings.HEART_SITE_URL.rstrip('/')}{path}"


def personal_link(writer: Writer) -> str:
    """Return the writer's link as a whole; whoever has it can write in their place."""
    return absolute(invitation_link(writer))


def waiting_mails() -> QuerySet[WriterMail]:
    """Return the mails that are still to be sent: not given up, and with somewhere to go."""
    waiting = WriterMail.objects.filter(sent_at=None, attempts__lt=MOST_ATTEMPTS)
    return waiting.exclude(writer__email="")


def mail_rows(writer: Writer) -> list[tuple[WriterMail, str]]:
    """Return the mails to the writer with where each stands, the newest first."""
    mails = writer.mails.select_related("writer").order_by("-queued_at", "-pk")
    return [(mail, _mail_state(mail)) for mail in mails]


def compose(mail: WriterMail) -> EmailMessage:
    """Write subject and body of the mail as things stand now; the writer comes with it."""
    writer = mail.writer
    if mail.kind == MailKind.INVITED:
        if writer.state == WriterState.INVITED:
            return _invitation(writer)
        return _link_again(writer)
    write = {MailKind.ADMITTED: _admitted, MailKind.REFUSED: _refused, MailKind.RETURNED: _returned}
    return write[MailKind(mail.kind)](writer, mail.note)


def _letter(subject: str, *paragraphs: str) -> EmailMessage:
    """Put the paragraphs that say something under each other, with a greeting."""
    said = (_("Hello,"), *paragraphs, "HEART")
    return EmailMessage(subject, "\n\n".join(paragraph for paragraph in said if paragraph))


def _invitation(writer: Writer) -> EmailMessage:
    return _letter(
        TITLE,
        INVITATION,
        "\n".join(f"{name}: {text}" for name, text in host_facts(writer.dataset.host).items()),
        _("Your personal link shows what it is about and lets you accept or decline:"),
        personal_link(writer),
        _("Don’t share it: whoever has it can write in your place."),
        _(
            'If you would rather not, press "No, I decline" on that page, and we delete your '
            "address. You can also simply ignore this email."
        ),
    )


def _link_again(writer: Writer) -> EmailMessage:
    return _letter(
        _("Your personal link"),
        _("This link takes you back to your desk, on any device:"),
        personal_link(writer),
        _("Don’t share it: whoever has it can write in your place. Older links may not work."),
    )


def _admitted(writer: Writer, note: str) -> EmailMessage:
    return _letter(
        _("You can start writing"),
        _("Thank you for your trial replies. A reviewer read them, and you are in."),
        _noted(note),
        _("Your desk:"),
        personal_link(writer),
    )


def _refused(writer: Writer, note: str) -> EmailMessage:
    return _letter(
        _("About your trial replies"),
        _(
            "Thank you for your trial replies and for your time. A reviewer read them, and we "
            "won't be inviting you to continue. Your replies will not be used or published."
        ),
        _noted(note),
        _("If you want them deleted, use your personal link:"),
        personal_link(writer),
    )


def _returned(writer: Writer, note: str) -> EmailMessage:
    return _letter(
        _("Please change one of your replies"),
        _("A reviewer read one of your replies and asks you to change it."),
        _noted(note),
        _("It is on your desk, with what you wrote:"),
        personal_link(writer),
    )


def _noted(note: str) -> str:
    return _("The reviewer says:\n\n%(note)s") % {"note": note} if note else ""


def _mail_state(mail: WriterMail) -> str:
    if mail.sent_at is not None:
        return _("sent")
    if not mail.writer.email:
        return _("not sent: the address is forgotten")
    if mail.attempts >= MOST_ATTEMPTS:
        return _("given up: the server refused it %(times)d times") % {"times": mail.attempts}
    return _("tried, and tried again soon") if mail.error else _("waits to be sent")
