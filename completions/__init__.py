"""What is judged: dialogues, contexts, systems, writers and completions."""
