"""What follows from judgments: fits, ratings, results and exports."""
