"""Links in mails lead to the port that the embedded site found."""

from heart_site.embedded import process


def test_the_site_is_where_its_web_server_is(settings):
    settings.HEART_SITE_URL = process.USUAL_ADDRESS

    with process.web(port=0) as (address, _serve):
        assert address == settings.HEART_SITE_URL


def test_a_site_that_says_where_it_is_is_believed(settings):
    settings.HEART_SITE_URL = "https://heart.example.org"

    with process.web(port=0):
        assert settings.HEART_SITE_URL == "https://heart.example.org"


def test_the_usual_address_is_the_default_of_the_settings(settings):
    assert settings.HEART_SITE_URL == process.USUAL_ADDRESS
