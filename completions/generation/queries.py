"""Reads of generation: how far the calls of a dataset are."""

from completions.models import Dataset, GenerationCall


def generation_progress(dataset: Dataset) -> tuple[int, int]:
    """Return how many of the dataset's generation calls have ended, and how many there are."""
    calls = GenerationCall.objects.filter(context__dataset=dataset)
    return calls.filter(ended_at__isnull=False).count(), calls.count()
