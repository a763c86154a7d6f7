"""The command line of `autophi view`."""

import argparse
import sys

from autophi.viewing import view


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="autophi view", allow_abbrev=False,
                                     description="Write one HTML page about files of jobs and predictions.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="reports, metrics, traces, predictions, plans")
    parser.add_argument("--out", required=True, metavar="PAGE.html", help="the page to write")
    given = parser.parse_args(words)
    try:
        page = view(*given.files, out=given.out)
    except (OSError, ValueError, ImportError) as error:
        print(f"autophi view: {error}", file=sys.stderr)
        return 1
    print(f"{given.out}: {', '.join(section.title for section in page.sections)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
