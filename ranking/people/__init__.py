"""Systems made from people: their texts as one, one by one, and the best of each context."""

from ranking.people.ground import PeopleRating
from ranking.people.rating import RatedPeople, rate_people
from ranking.people.reading import read_judgments

__all__ = ["PeopleRating", "RatedPeople", "rate_people", "read_judgments"]
