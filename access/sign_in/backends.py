"""Who is signed in: the user, with the role that the pages will ask for."""

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User

from access.roles import users


class MembersBackend(ModelBackend):
    """Users by name and password, read together with their membership."""

    def get_user(self, user_id: int) -> User | None:
        """Return an active user; what a page asks about them needs no second query."""
        user = users().filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
