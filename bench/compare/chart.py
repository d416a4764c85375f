"""Draws the chart of a page of results once more: chart.py PAGE.md CHART.svg.

docs/h200.svg is the chart of the page beside which README.md shows it.
"""
import sys
from pathlib import Path

import report


def main():
    page, chart = map(Path, sys.argv[1:])
    chart.write_text(report.svg(report.from_markdown(page.read_text(encoding='utf-8'))), encoding='utf-8')


main()
