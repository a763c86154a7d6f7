"""Command line: see tools/mutate."""

import argparse
import os
import sys
from pathlib import Path
from typing import Iterator, Optional

from mutation import signals
from mutation.baseline import Baseline
from mutation.build import Build
from mutation.draw import Draw, Files, source_files
from mutation.errors import MutationError, Stopped
from mutation.journal import Journal
from mutation.mutant import KINDS, Mutant
from mutation.report import Report, say
from mutation.trial import judge
from mutation.verdict import Verdict

ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = ("phi", "distributed", "api_gen", "tools")


def _arguments(argv: Optional[list[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/mutate", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Makes small bugs, one at a time, and reports which the tests notice.",
        epilog="kinds of mutants:\n" + "\n".join(f"  {k:13}{v}" for k, v in KINDS.items()))
    parser.add_argument("files", nargs="*", metavar="FILE",
                        help="C++ and Python sources, or folders of them")
    parser.add_argument("--sample", type=int, metavar="N", help="N mutants, sampled over all files; "
                        "without it, every mutant")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the sample (1)")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument("--only", action="append", default=[], metavar="ID|FILE:LINE[:KIND]",
                        help="these mutants, as reports name them; may be repeated")
    parser.add_argument("--tests", metavar="REGEX", help="run the tests of these names, not those "
                        "that mirror the file")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="DIR",
                        help="a configured Ninja build (build)")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("AUTOPHI_JOBS")
                                                        or os.cpu_count() or 1), metavar="N",
                        help="compilers that run at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file")
    parser.add_argument("--resume", action="store_true",
                        help="reuse the results in the --json file, and continue with the other mutants")
    parser.add_argument("--at-least", type=float, default=0.0, metavar="PERCENT",
                        help="exit with 1 if fewer are caught")
    options = parser.parse_args(argv)
    if not options.files and not options.only:
        parser.error("pass files or folders to mutate")
    if options.sample is not None and options.sample < 1:
        parser.error("--sample needs 1 or more")
    return options


def _named(files: Files, name: str) -> list[Mutant]:
    """Mutants of --only: an id, or a position with an optional kind."""
    path, *place = name.split(":")
    if not place:
        found = [mutant for mutant in files.all() if mutant.id == name.lstrip("#")]
    else:
        found = [mutant for mutant in files.mutants(path) if str(mutant.line) == place[0]
                 and place[1:] in ([], [mutant.kind])]
    if not found:
        raise MutationError(f"no mutant is named '{name}'; --list prints their names.")
    return found


def _files(options: argparse.Namespace) -> Files:
    named = options.files or [str(ROOT / only.partition(":")[0]) if ":" in only else ""
                              for only in options.only]
    if "" in named:
        named = [str(ROOT / folder) for folder in _FOLDERS if (ROOT / folder).is_dir()]
    return Files(ROOT, source_files(ROOT, named, Path.cwd()))


def _chosen(options: argparse.Namespace, files: Files) -> list[Mutant]:
    if options.only:
        return [mutant for name in options.only for mutant in _named(files, name)]
    return files.all()


def _list(options: argparse.Namespace, files: Files) -> None:
    if options.sample and not options.only:
        draw = Draw(files, options.sample, options.seed)
        mutants = [mutant for mutant in (draw.next() for _ in range(options.sample)) if mutant]
    else:
        mutants = _chosen(options, files)
    for mutant in mutants:
        print(f"{mutant}\n{mutant.diff()}")
    print(f"{len(mutants)} mutants in {len({mutant.path for mutant in mutants})} files")


class _Session:
    def __init__(self, options: argparse.Namespace, files: Files, build: Build, journal: Journal):
        self._options = options
        self._files = files
        self._build = build
        self._journal = journal
        self._baseline = Baseline(build, options.tests, say)
        self._drawn: list[Mutant] = []
        sampled = options.sample and not options.only
        self._draw = Draw(files, options.sample, options.seed) if sampled else None
        self._all = [] if sampled else _chosen(options, files)
        about = {"seed": options.seed, "sample": options.sample} if sampled else {}
        self.report = Report(options.sample if sampled else len(self._all), about, options.json,
                             options.resume)

    def run(self) -> None:
        try:
            mutants = self._first()
            if not mutants:
                raise MutationError("these files have no code to mutate.")
            self._baseline.prepare(sorted({m.path for m in mutants if not self.report.earlier(m)}))
            for mutant in self._counted(mutants):
                self.report.add(self.report.earlier(mutant) or self._judge(mutant))
            self._baseline.finish()
        finally:
            self._baseline.close()

    def _judge(self, mutant: Mutant) -> Verdict:
        text = self._files.text(mutant.path)
        return judge(mutant, text, self._build, self._baseline, self._journal)

    def _first(self) -> list[Mutant]:
        if self._draw is None:
            return self._all
        drawn = (self._draw.next() for _ in range(self._options.sample))
        return [mutant for mutant in drawn if mutant]

    def _counted(self, mutants: list[Mutant]) -> Iterator[Mutant]:
        """These, and in a sample a replacement for each that does not count."""
        waiting = list(mutants)
        while waiting:
            mutant = waiting.pop(0)
            yield mutant
            if self._draw is not None and not self.report.verdicts[-1].counts:
                self._draw.does_not_count(mutant)
                another = self._draw.next()
                waiting.extend([another] if another else [])


def _run(options: argparse.Namespace) -> int:
    build_folder = options.build.resolve()
    if not build_folder.is_dir():
        raise MutationError(f"{build_folder} is no configured Ninja build; run tools/test once, or "
                            "pass --build=DIR.")
    journal = Journal(ROOT, build_folder / "mutation")
    journal.lock()
    try:
        restored = journal.restore()
        if restored:
            say(f"{restored} is restored after an interrupted run")
        files = _files(options)
        build = Build(ROOT, build_folder, options.jobs)
        build.refresh()
        say("sources contain mutants until the end: do not commit, and do not build in this folder")
        session = _Session(options, files, build, journal)
        if options.sample and not options.only:
            say(f"{options.sample} mutants of {len(files.paths)} files, --seed={options.seed}")
        try:
            session.run()
        finally:
            if session.report.verdicts:
                print(session.report.summary(), flush=True)
        return 1 if session.report.share < options.at_least else 0
    finally:
        with signals.deferred():
            journal.restore()


def main(argv: Optional[list[str]] = None) -> int:
    options = _arguments(argv)
    signals.catch()
    try:
        if options.list:
            _list(options, _files(options))
            return 0
        return _run(options)
    except MutationError as error:
        print(f"[mutate] error: {error}", file=sys.stderr)
        return 2
    except Stopped as stopped:
        print(f"[mutate] stopped by signal {stopped.signal_number}; the tree is as it was",
              file=sys.stderr)
        return 128 + stopped.signal_number


if __name__ == "__main__":
    sys.exit(main())
