"""Files of judgments (CSV, JSONL, Parquet) as arrays; see docs/prompt.md."""

from annotation.tool_files import JudgmentFileError
from ranking.judgment_files.coding import Coded
from ranking.judgment_files.judgments import FileJudgments
from ranking.judgment_files.reading import Wanted, read_judgments

__all__ = ["Coded", "FileJudgments", "JudgmentFileError", "Wanted", "read_judgments"]
