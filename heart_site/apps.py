"""Application configuration."""

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig


class HeartSiteConfig(AppConfig):
    """The site itself: it owns no tables, only the commands that start it."""

    name = "heart_site"
    default = True


class OwnersAdminConfig(SimpleAdminConfig):
    """Django's admin, behind the site's own sign-in."""

    default_site = "heart_site.admin_site.OwnersSite"
