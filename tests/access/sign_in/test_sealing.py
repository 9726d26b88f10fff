"""What is sealed is read with the same secret key, and with nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from access.sign_in.adapters import SealedElsewhereError, seal, unseal

KEY = "a secret key of the site"


@given(text=st.text(max_size=80), key=st.text(min_size=1, max_size=80))
def test_is_read_with_its_key(text, key):
    assert unseal(seal(text, secret_key=key), secret_key=key) == text


def test_shows_nothing_of_the_text_and_never_looks_the_same():
    sealed = {seal("JBSWY3DPEHPK3PXP", secret_key=KEY) for _ in range(3)}

    assert len(sealed) == 3
    assert not any("JBSWY3DPEHPK3PXP" in one for one in sealed)


def test_is_not_read_with_another_key():
    with pytest.raises(SealedElsewhereError):
        unseal(seal("JBSWY3DPEHPK3PXP", secret_key=KEY), secret_key=KEY + " ")


@pytest.mark.parametrize("place", [0, 20, -20])
def test_is_not_read_once_it_was_changed(place):
    sealed = list(seal("JBSWY3DPEHPK3PXP", secret_key=KEY))
    sealed[place] = "A" if sealed[place] != "A" else "B"

    with pytest.raises(SealedElsewhereError):
        unseal("".join(sealed), secret_key=KEY)


@pytest.mark.parametrize("text", ["", "JBSWY3DPEHPK3PXP", "é"])
def test_refuses_what_was_never_sealed(text):
    with pytest.raises(SealedElsewhereError):
        unseal(text, secret_key=KEY)
