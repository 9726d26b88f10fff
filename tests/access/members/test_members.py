"""The team: the console's pages on it, the command, and owners who change it at one moment."""

import io
import re
from functools import partial

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from access.choices import Role, Scope
from access.members import services as member_services
from access.members.services import LastOwnerError, MemberRefusedError
from access.models import LogEntry, Member
from access.roles import member_with_address, role_of
from tests.helpers.factories import NOW
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member, make_user
from tests.helpers.pages import text
from tests.helpers.threads import while_uncommitted

pytestmark = pytest.mark.django_db

PAGE = "/console/members/"
NEW = {"username": "ada", "email": "ada@lab.example", "role": "MANAGER"}
PASSWORD = "four plain words here"
LINK = re.compile(r"/accounts/password/\w+-[\w-]+/")


def set_password(link):
    """Follow a link as whoever got it; return the answer to the new password."""
    visitor = Client()
    form = visitor.get(link, follow=True)
    fields = {"password1": PASSWORD, "password2": PASSWORD}
    return visitor.post(form.request["PATH_INFO"], fields, follow=True)


def sign_in(username, password=PASSWORD):
    visitor = Client()
    visitor.post("/accounts/login/", {"login": username, "password": password})
    return visitor


class TestAddingAMember:
    def test_shows_a_link_once_with_which_they_get_in(self, client, owner):
        answer = client.post(PAGE, NEW)
        link = LINK.search(answer.content.decode())[0]

        assert "no-store" in answer["Cache-Control"]
        assert not LINK.search(client.get(PAGE).content.decode())
        assert "The password is set" in text(set_password(link))
        assert sign_in("ada").get("/console/").status_code == 200
        assert "not valid any more" in text(Client().get(link))
        assert Member.objects.get(user__username="ada").role == Role.MANAGER
        entry = LogEntry.objects.get(action="member.added")
        assert (entry.by, entry.after["role"]) == (owner, "MANAGER")

    def test_has_a_link_that_is_of_no_use_in_a_tab_once_it_was_answered_in_another(
        self, client, owner
    ):
        link, visitor = LINK.search(client.post(PAGE, NEW).content.decode())[0], Client()
        tab = visitor.get(link, follow=True).request["PATH_INFO"]
        set_password(link)

        late = visitor.post(tab, {"password1": "another one " * 2, "password2": "another one " * 2})

        assert "not valid any more" in text(late)
        assert User.objects.get(username="ada").check_password(PASSWORD)

    @pytest.mark.parametrize(
        "fields",
        [
            {"username": ""},
            {"username": "two words"},
            {"username": "OLGA"},
            {"email": "no address"},
            {"email": "Olga@lab.example"},
            {"role": "KING"},
        ],
    )
    def test_says_why_nobody_was_added(self, fields, client, owner):
        User.objects.filter(pk=owner.pk).update(email="olga@lab.example")

        answer = client.post(PAGE, NEW | fields)

        assert answer.status_code == 422
        assert "Nobody was added" in text(answer)
        assert User.objects.count() == 1

    def test_takes_back_whoever_left_with_nothing_of_before(self, client, owner):
        ada = make_member("ada", role=Role.OWNER)
        ada.set_password(PASSWORD)
        ada.save()
        member_services.remove_member(ada, now=NOW)

        client.post(PAGE, NEW)

        assert role_of(User.objects.get(username="ada")) is Role.MANAGER
        assert sign_in("ada").get("/console/").status_code == 302


class TestTheTeam:
    def test_is_listed_in_few_queries(self, client, owner, django_assert_max_num_queries):
        names = [make_member(f"member-of-{n}").username for n in range(20)]
        make_user(username="a-stranger")

        with django_assert_max_num_queries(8):
            page = text(client.get(PAGE))

        assert all(name in page for name in names)
        assert "a-stranger" not in page

    def test_changes_roles_also_of_a_superuser(self, client, owner):
        ada = make_member("ada", role=Role.ANALYST)
        root = User.objects.create_superuser("root")

        client.post(f"{PAGE}{ada.pk}/role/", {"role": "OWNER"})
        client.post(f"{PAGE}{root.pk}/role/", {"role": "ANALYST"})

        assert Member.objects.get(user=ada).role == Role.OWNER
        assert role_of(User.objects.get(pk=root.pk)) is Role.ANALYST
        entry = LogEntry.objects.get(action="member.role-changed", subject__contains="ada")
        assert (entry.before, entry.after) == ({"role": "ANALYST"}, {"role": "OWNER"})

    def test_always_has_an_owner(self, client, owner):
        make_member("ada", role=Role.MANAGER)

        demoted = client.post(f"{PAGE}{owner.pk}/role/", {"role": "ANALYST"}, follow=True)
        removed = client.post(f"{PAGE}{owner.pk}/remove/", follow=True)

        assert "make another owner first" in text(demoted)
        assert "make another owner first" in text(removed)
        assert Member.objects.get(user=owner).role == Role.OWNER

    def test_takes_everything_from_whoever_leaves(self, client, owner):
        ada = make_member("ada")
        ada.set_password(PASSWORD)
        ada.save()
        secret = make_secret(Scope.READ_STUDIES, owner=ada)
        inside = sign_in("ada")
        assert inside.get("/console/").status_code == 200

        answer = client.post(f"{PAGE}{ada.pk}/remove/", follow=True)

        assert "ada is removed" in text(answer)
        assert not Member.objects.filter(user=ada).exists()
        assert inside.get("/console/").status_code == 302
        assert sign_in("ada").get("/console/").status_code == 302
        assert client.get("/api/v1/systems/", headers=bearing(secret)).status_code == 401
        assert LogEntry.objects.get(action="member.removed").before == {"role": "OWNER"}

    def test_gets_new_links_and_forgets_lost_phones(self, client, owner):
        ada = make_member("ada")
        TOTP.activate(ada, "JBSWY3DPEHPK3PXP")

        page = client.post(f"{PAGE}{ada.pk}/link/").content.decode()
        assert "The password is set" in text(set_password(LINK.search(page)[0]))
        asked = sign_in("ada")
        assert asked.get("/console/").status_code == 302
        client.post(f"{PAGE}{ada.pk}/second-factor/")

        assert sign_in("ada").get("/console/").status_code == 200
        assert {"password.link-made", "password.set", "second-factor.reset"} <= set(
            LogEntry.objects.values_list("action", flat=True)
        )


class TestTheCommand:
    def run(self, *arguments):
        out = io.StringIO()
        call_command("members", *arguments, stdout=out, stderr=io.StringIO())
        return out.getvalue().strip()

    def test_does_all_that_the_pages_do(self):
        link = self.run("add", "olga", "--role", "owner")
        assert "The password is set" in text(set_password(LINK.search(link)[0]))
        self.run("add", "ada", "--role", "analyst", "--email", "ada@lab.example")
        assert self.run("role", "ada", "manager") == "ada is manager"
        assert self.run("role", "ada", "manager") == "ada was manager"
        assert "ada  manager  no second factor  signed in never" in self.run("list")
        assert LINK.search(self.run("link", "ada"))
        self.run("reset", "ada")
        self.run("remove", "ada")
        assert self.run("list").startswith("olga  owner")

    @pytest.mark.parametrize(
        "arguments", [("remove", "olga"), ("add", "Olga", "--role", "owner"), ("reset", "nobody")]
    )
    def test_refuses(self, arguments):
        make_member("olga")

        with pytest.raises(CommandError):
            self.run(*arguments)


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("email", "is_hers"),
    [
        *(("kim@lab.example", True), ("KIM@LAB.example", True)),
        *(("k\u0131m@lab.example", False), ("\u212aim@lab.example", False), ("", False)),
    ],
)
def test_an_address_is_a_members_letter_for_letter(email, is_hers):
    kim = make_member("kim")
    User.objects.filter(pk=kim.pk).update(email="kim@lab.example")

    assert member_with_address(email) == (kim if is_hers else None)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
class TestAtOneMoment:
    def test_owners_who_remove_each_other_leave_one(self):
        ada, olga = make_member("ada"), make_member("olga")

        def second():
            with pytest.raises(LastOwnerError):
                member_services.remove_member(olga, now=NOW, by=ada)

        while_uncommitted(
            partial(member_services.remove_member, ada, now=NOW, by=olga), second, has_to_wait=True
        )

        assert Member.objects.get().user == olga

    def test_somebody_whom_both_add_is_added_once(self):
        make_member("olga")
        new = ("ada", Role.ANALYST)

        def second():
            with pytest.raises(MemberRefusedError):
                member_services.add_member(*new, now=NOW)

        while_uncommitted(
            partial(member_services.add_member, *new, now=NOW), second, has_to_wait=True
        )

        assert User.objects.filter(username="ada").count() == 1
