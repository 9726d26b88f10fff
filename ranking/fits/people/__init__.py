"""Systems made from people: their texts as one, one by one, and the best of each context."""

from ranking.fits.people.inputs import PeopleRating
from ranking.fits.people.kinds import PeopleKindName
from ranking.fits.people.rating import RatedPeople, rate_people

__all__ = ["PeopleKindName", "PeopleRating", "RatedPeople", "rate_people"]
