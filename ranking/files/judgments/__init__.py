"""Files of judgments (CSV, JSONL, Parquet) as arrays; see docs/files.md."""

from annotation.tool_files.reading import JudgmentFileError
from ranking.files.judgments.judgments import Coded, FileJudgments
from ranking.files.judgments.reading import ReadOptions, read_judgments

__all__ = ["Coded", "FileJudgments", "JudgmentFileError", "ReadOptions", "read_judgments"]
