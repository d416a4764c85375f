"""The blocks of pages in Markdown. page_blocks.py KIND PAGE prints the first one of that kind."""
import re
import sys


def blocks(text):
    """The blocks of a page: kind, first line, text."""
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S):
        yield found[1], text.count("\n", 0, found.start()) + 2, found[2]


def main():
    wanted, page = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        found = [text for kind, _, text in blocks(file.read()) if kind == wanted]
    if not found:
        sys.exit(f"{page} has no block of the kind {wanted}")
    print(found[0], end="")


if __name__ == "__main__":
    main()
