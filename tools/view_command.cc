// Checks the command line; Python's package autophi draws the page (docs/view.md).
#include "tools/view_command.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/command_line.h"
#include "tools/cli/python.h"

namespace phi {
namespace {

constexpr const char* kHelp =
    "autophi view FILE... --out=page.html [--python=python3]\n"
    "\n"
    "Writes one HTML page about what jobs and predictions wrote: reports, metrics and traces of\n"
    "autophi run, predictions and traces of autophi simulate, plans of autophi plan. Runs are "
    "laid\n"
    "over each other. The page needs no network. docs/view.md lists what it shows.\n"
    "\n"
    "  --out=FILE       the page\n"
    "  --python=PATH    a Python with the package autophi and plotly:\n"
    "                   pip install 'autophi[view]'\n";

// Names the command that installs what is missing: the message of Python's -m does not.
constexpr const char* kScript = R"(
import importlib.util, sys
if importlib.util.find_spec("autophi") is None:
    sys.exit(f"autophi view: {sys.executable} has no package autophi. Install it (pip install "
             "'autophi[view]'), name another interpreter by --python=PATH, or set PYTHONPATH to "
             "the python folder of a build.")
from autophi.viewing.__main__ import main
sys.exit(main(sys.argv[1:]))
)";

int draw_page(int argc, char** argv) {
  static const std::vector<std::string> flags = {"out", "python"};
  std::vector<std::string> files = cli::parse_flags(argc, argv, flags);
  if (files.empty()) {
    throw cli::UsageError(
        "autophi view expects reports, metrics, traces, predictions or plans, got no file; see "
        "--help.");
  }
  if (FLAGS_out.empty()) throw cli::UsageError("--out is missing; pass --out=page.html.");
  std::vector<std::string> words = {"-c", kScript, "--out=" + FLAGS_out, "--"};
  words.insert(words.end(), files.begin(), files.end());
  cli::become_python(std::move(words), "the page is drawn by Python's package autophi",
                     "pip install 'autophi[view]'");
}

}  // namespace
}  // namespace phi

int view_command(int argc, char** argv) {
  if (phi::cli::has_help_flag(argc, argv)) {
    std::fputs(phi::kHelp, stdout);
    return 0;
  }
  return phi::cli::status_of("view", [&] { return phi::draw_page(argc, argv); });
}
