"""What an assignment rests on: seeded draws, and slots that are moved under locks."""
